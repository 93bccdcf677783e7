// Gives an event its audience and its place in the outbox (design.md §2). A part of apply: pure and
// deterministic.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "schemas/json.hpp"
#include "schemas/webhooks.hpp"
#include "storage/registry/context/rule_context.hpp"

namespace herald::storage::registry::emission {

/// An event before it has an audience and a sequence.
struct event_draft {
    schemas::event_type type = schemas::event_type::create;
    schemas::resource_type resource_type = schemas::resource_type::none;
    std::string resource_id;
    schemas::workspace_id workspace_id;
    schemas::event_id id;  // from rule_context::new_event_id(); empty: a new one, if anybody hears it
    /// Makes the bytes that every receiver gets; called only when the audience is not empty.
    std::function<std::string(const event_draft&)> make_body;
    /// Where its receiver reports: a path of this installation (report_paths.hpp) behind the base URL of the
    /// command's sender. Empty: no report is expected.
    std::string report_path{};
    /// The base URL itself, where the event is of an earlier command than the one that causes it.
    std::string report_base{};
    /// A webhook that does not hear it, whatever it asks for: the event is about it.
    schemas::webhook_id except{};
};

/// Audiences, each looked up once: for a step that emits many events, changes no webhook, and excepts none.
class audiences {
  public:
    struct listener {
        schemas::audience_member member;
        std::vector<schemas::filter_condition> filter;
    };
    const std::vector<listener>& of(const context::rule_context&, const event_draft&);

  private:
    using kind = std::tuple<schemas::workspace_id, schemas::event_type, schemas::resource_type>;
    std::map<kind, std::vector<listener>> x_known;
};

/// Gives the event its audience (the workspace's webhooks that match now and whose filters let it through),
/// its sequences and its place in the outbox. When no webhook matches, nothing is written. Returns the size
/// of the audience.
std::size_t emit(context::rule_context&, event_draft);
/// The same, of a step that knows some audiences already.
std::size_t emit(context::rule_context&, event_draft, audiences&);

/// Both, returning the audience.
std::vector<schemas::audience_member> emit_to_all(context::rule_context&, event_draft);
std::vector<schemas::audience_member> emit_to_all(context::rule_context&, event_draft, audiences&);

/// Whether it is a partition that the outbox has events for.
bool is_event_partition(const context::rule_context&, std::string_view topic, std::uint64_t partition);

/// The members that the bodies of all events but PROMOTE begin with: {id, timestamp, event_type,
/// resource_type, workspaceID}.
schemas::object_writer begun_envelope(const event_draft&, std::int64_t time_ms);
/// The REQUEST_SCAN envelope (spec.md §6.4), also used for CREATE, UPDATE, DELETE: {id, timestamp,
/// event_type, resource_type, workspaceID, [original], [updated]}; `original` and `updated` are JSON objects
/// or empty.
std::string event_envelope(const context::rule_context&, const event_draft&, std::string_view original,
                           std::string_view updated);
/// The same, of something that happened at another time.
std::string event_envelope(const event_draft&, std::int64_t time_ms, std::string_view original,
                           std::string_view updated);

}  // namespace herald::storage::registry::emission
