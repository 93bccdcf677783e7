#include "storage/registry/emission/emission.hpp"

#include <algorithm>

#include "events/event_topic.hpp"
#include "runtime/limits.hpp"
#include "runtime/text.hpp"
#include "schemas/json.hpp"
#include "storage/registry/tables/tables.hpp"
#include "storage/registry/tables/webhooks.hpp"

namespace herald::storage::registry::emission {
namespace {

using context::rule_context;
using tables::find_number;
using tables::key_of;
using tables::put_number;
using tables::table;

std::vector<schemas::audience_member> audience_of(const state::state_view& state, const event_draft& draft) {
    std::vector<schemas::audience_member> audience;
    tables::webhooks::each_of(state, draft.workspace_id, {}, [&](schemas::webhook_id id) {
        const auto hook = tables::webhooks::find(state, id);
        if (hook && hears(*hook, draft.type, draft.resource_type))
            audience.push_back({hook->id, hook->status == schemas::webhook_status::disabled});
        return audience.size() < limits::webhooks_per_workspace_max;
    });
    return audience;
}

}  // namespace

std::size_t emit(rule_context& context, const event_draft& draft) {
    state::state_changes& state = context.state;
    schemas::event event;
    event.audience = audience_of(state, draft);
    if (event.audience.empty()) return 0;
    event.id = draft.id;
    event.type = draft.type;
    event.resource_type = draft.resource_type;
    event.resource_id = draft.resource_id;
    event.workspace_id = draft.workspace_id;
    event.time_ms = context.time_ms();
    event.generation = context.generation();
    event.offset = context.offset();
    event.body = draft.make_body(draft);
    event.traceparent = context.command().request.traceparent;

    const std::string_view topic = events::topic_of(draft.type);
    const auto partition =
        static_cast<std::uint64_t>(events::partition_of(draft.resource_id, context.event_partitions()));
    const std::string sequence_key = key_of(table::outbox_sequence).ended_text(topic).number(partition);
    event.partition_sequence = find_number(state, sequence_key).value_or(0) + 1;
    put_number(state, sequence_key, event.partition_sequence);

    const std::string resource_key = key_of(table::resource_sequence)
                                         .number(static_cast<std::uint64_t>(draft.type))
                                         .number(static_cast<std::uint64_t>(draft.resource_type))
                                         .text(draft.resource_id);
    event.resource_sequence = find_number(state, resource_key).value_or(0) + 1;
    put_number(state, resource_key, event.resource_sequence);

    const std::string row_key =
        key_of(table::outbox).ended_text(topic).number(partition).number(event.partition_sequence);
    tables::put_row(state, row_key, event);
    state.put(
        key_of(table::outbox_by_time).number(static_cast<std::uint64_t>(context.time_ms())).text(row_key),
        "");
    return event.audience.size();
}

std::string event_envelope(const rule_context& context, const event_draft& draft, std::string_view original,
                           std::string_view updated) {
    schemas::object_writer out;
    out.text("id", draft.id)
        .text("timestamp", runtime::iso8601_ms(context.time_ms()))
        .text("event_type", schemas::name_of(draft.type))
        .text("resource_type", schemas::name_of(draft.resource_type))
        .number("workspaceID", draft.workspace_id.value);
    if (!original.empty()) out.raw("original", original);
    if (!updated.empty()) out.raw("updated", updated);
    return out.finish();
}

}  // namespace herald::storage::registry::emission
