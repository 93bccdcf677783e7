// How an event gets its audience and its place in the outbox (design.md §2). A part of apply: pure and
// deterministic.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "schemas/webhooks.hpp"
#include "storage/registry/context/rule_context.hpp"

namespace herald::storage::registry::emission {

/// An event before it is given its audience and sequence.
struct event_draft {
    schemas::event_type type = schemas::event_type::create;
    schemas::resource_type resource_type = schemas::resource_type::none;
    std::string resource_id;
    schemas::workspace_id workspace_id;
    schemas::event_id id;  // from rule_context::new_event_id()
    /// Makes the bytes that every receiver gets; called only when somebody listens.
    std::function<std::string(const event_draft&)> make_body;
};

/// Gives the event its audience (the workspace's webhooks that match now), its sequences and its place in the
/// outbox. Nothing is written when no webhook matches. Returns the size of the audience.
std::size_t emit(context::rule_context&, const event_draft&);

/// Whether the outbox has events for it.
bool is_event_partition(const context::rule_context&, std::string_view topic, std::uint64_t partition);

/// The REQUEST_SCAN envelope (spec.md §6.4), also of CREATE, UPDATE, DELETE: {id, timestamp, event_type,
/// resource_type, workspaceID, [original], [updated]}; `original` and `updated` are JSON objects or empty.
std::string event_envelope(const context::rule_context&, const event_draft&, std::string_view original,
                           std::string_view updated);

}  // namespace herald::storage::registry::emission
