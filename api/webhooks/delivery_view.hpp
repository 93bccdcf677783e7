// Deliveries as a caller may see them (wire.md §7 "Deliveries", "Who").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/calls/call.hpp"
#include "schemas/answers/deliveries.hpp"
#include "storage/deliveries/delivery_history.hpp"

namespace herald::api::webhooks {

/// What the caller may see of a workspace's deliveries. Lives as long as its call.
class delivery_sight {
  public:
    delivery_sight(const calls::reading_call&, schemas::workspace);

    const schemas::workspace& workspace() const noexcept { return x_workspace; }
    /// A caller that may change its webhooks sees everything, also headers, bodies and addresses.
    bool sees_all() const noexcept { return x_sees_all; }
    bool sees(const schemas::delivery_row&) const;
    bool sees(schemas::resource_type, const std::string& resource_id) const;
    /// For the history: empty for a caller who sees all.
    storage::deliveries::delivery_judge judge() const;

  private:
    const calls::reading_call& x_call;
    const schemas::workspace x_workspace;
    const bool x_sees_all;
    mutable std::map<std::pair<schemas::resource_type, std::string>, bool> x_known;
};

/// The workspace that the query names, or else the caller's default one. Errors: not_found when there is none
/// that the caller sees; invalid_argument.
result<delivery_sight> sight_of(const calls::reading_call&, schemas::workspace_id);
/// Of the query's workspace_id.
result<delivery_sight> sight_of(const calls::reading_call&);
/// A delivery that the caller sees, of an event. Errors: not_found.
struct seen_delivery {
    schemas::delivery_row row;
    delivery_sight sight;
};
result<seen_delivery> seen(const calls::reading_call&, std::string_view delivery_id);

/// "version/12"; "" for none.
std::string resource_text(schemas::resource_type, std::string_view id);
/// Errors: invalid_argument.
result<std::pair<schemas::resource_type, std::string>> resource_in(std::string_view text);

/// The waits between the attempts of the webhook's deliveries.
std::vector<std::int64_t> retry_schedule_of(const std::optional<schemas::webhook>&);

schemas::answers::delivery_webhook webhook_shown(const calls::reading_call&, schemas::webhook_id);
schemas::answers::delivery_core core_of(const calls::reading_call&, const schemas::delivery_row&);
schemas::answers::delivery_entry entry_of(const calls::reading_call&, const schemas::delivery_row&);
/// `in_full`: with address, headers and bodies.
schemas::answers::attempt_entry attempt_shown(const storage::deliveries::attempt_in_full&, bool in_full);
std::string time_text(std::int64_t ms);  // "" for 0

/// As in the query of a list and the filter of a retry. Errors: invalid_argument naming the member.
result<std::int64_t> time_in(std::string_view name, std::string_view text);
struct filter_text {
    std::string webhook_id, event_id, resource, event_type, state, error, status, since, until;
};
result<schemas::delivery_filter> filter_of(schemas::workspace_id, const filter_text&);

}  // namespace herald::api::webhooks
