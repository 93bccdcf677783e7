// Gives an event its audience and its place in the outbox (design.md §2). A part of apply: pure and
// deterministic.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

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
};

/// Gives the event its audience (the workspace's webhooks that match now), its sequences and its place in the
/// outbox. When no webhook matches, nothing is written. Returns the size of the audience.
std::size_t emit(context::rule_context&, event_draft);

/// Whether it is a partition that the outbox has events for.
bool is_event_partition(const context::rule_context&, std::string_view topic, std::uint64_t partition);

/// The REQUEST_SCAN envelope (spec.md §6.4), also used for CREATE, UPDATE, DELETE: {id, timestamp,
/// event_type, resource_type, workspaceID, [original], [updated]}; `original` and `updated` are JSON objects
/// or empty.
std::string event_envelope(const context::rule_context&, const event_draft&, std::string_view original,
                           std::string_view updated);

}  // namespace herald::storage::registry::emission
