// What the rules of endpoints, their stages and tokens have in common.
#pragma once

#include "schemas/commands/endpoints.hpp"
#include "schemas/endpoints.hpp"
#include "storage/registry/context/rule_context.hpp"

namespace herald::storage::registry::rules {

/// "/a/b" of "a/b" and "/a/b". Errors: invalid_argument, saying what a path may hold.
result<std::string> normalised_path(std::string_view path);

/// The endpoint has changed in one of its parts: a new time, and an UPDATE event.
void touch_endpoint(context::rule_context&, const schemas::endpoint&);

/// Ends the stage with all that it serves. Its tokens and its log no longer count, and are swept by a timer.
void erase_endpoint_stage(context::rule_context&, const schemas::endpoint_stage&);

/// Writes the token, and sets the timer that ends it.
void put_access_token(context::rule_context&, const schemas::access_token&);
void erase_access_token(context::rule_context&, const schemas::access_token&);
/// Errors: invalid_argument.
result<void> check_new_token(const schemas::commands::new_access_token&);

}  // namespace herald::storage::registry::rules
