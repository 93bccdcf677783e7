// What an owner may set of a webhook's deliveries (wire.md §7 "Settings of a webhook").
#pragma once

#include "schemas/commands/webhooks.hpp"
#include "storage/registry/context/rule_context.hpp"

namespace herald::storage::registry::rules {

/// Of settings as they would be. Errors: invalid_argument, naming the member and what would be right.
result<void> check_delivery(const schemas::webhook_settings&, std::int64_t now_ms);
/// Of a webhook's headers as they would be. Errors: invalid_argument.
result<void> check_headers(const std::vector<schemas::webhook_header>&);

/// The members of `delivery` that the command gives.
void set_given(schemas::webhook_delivery&, const schemas::commands::update_webhook&);
/// The headers after the command.
std::vector<schemas::webhook_header> with_changes(std::vector<schemas::webhook_header>,
                                                  const schemas::commands::update_webhook&);
/// The values of headers are secrets that only their host may get. Errors: invalid_argument when one would go
/// to another scheme, host or port.
result<void> check_move(const schemas::webhook& before, const schemas::webhook& after);

/// Sets the timer that deletes it, if it expires.
void plan_to_expire(context::rule_context&, const schemas::webhook&);

}  // namespace herald::storage::registry::rules
