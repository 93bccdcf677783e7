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

/// Makes answers of rows; looks each webhook and each subject up once. Lives as long as its call.
class delivery_view {
  public:
    /// `in_full`: with messages, addresses, headers and bodies.
    delivery_view(const calls::reading_call& call, bool in_full) : x_call(call), x_in_full(in_full) {}

    schemas::answers::delivery_webhook webhook(schemas::webhook_id);
    schemas::answers::delivery_subject subject(schemas::resource_type, const std::string& resource_id);
    schemas::answers::delivery_core core(const schemas::delivery_row&);
    schemas::answers::delivery_entry entry(const schemas::delivery_row&);
    std::vector<schemas::answers::attempt_entry> attempts(std::string_view delivery_id) const;

  private:
    struct known_webhook {
        schemas::answers::delivery_webhook shown;
        std::uint32_t attempts_max = 0;
    };
    const known_webhook& look_up(schemas::webhook_id);
    schemas::answers::attempt_entry attempt(const storage::deliveries::attempt_in_full&) const;

    const calls::reading_call& x_call;
    const bool x_in_full;
    std::map<schemas::webhook_id, known_webhook> x_webhooks;
    std::map<std::pair<schemas::resource_type, std::string>, schemas::answers::delivery_subject> x_subjects;
};

std::string time_text(std::int64_t ms);  // "" for 0

/// The place of a row in a list, as a page_token. Errors of place_in: invalid_argument.
std::string token_of(const storage::deliveries::delivery_place&);
result<std::optional<storage::deliveries::delivery_place>> place_in(const std::string& token);

/// As in the query of a list and the filter of a retry. Errors: invalid_argument naming the member.
result<std::int64_t> time_in(std::string_view name, std::string_view text);
struct filter_text {
    std::string webhook_id, event_id, resource, event_type, state, error, status, since, until;
};
result<schemas::delivery_filter> filter_of(schemas::workspace_id, const filter_text&);

}  // namespace herald::api::webhooks
