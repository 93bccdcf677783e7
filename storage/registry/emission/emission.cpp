#include "storage/registry/emission/emission.hpp"

#include <algorithm>
#include <optional>

#include "events/event_topic.hpp"
#include "runtime/text.hpp"
#include "schemas/event_filter.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/tables/builds.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/registry/tables/outbox.hpp"
#include "storage/registry/tables/versions.hpp"
#include "storage/registry/tables/webhooks.hpp"
#include "storage/registry/tables/workspaces.hpp"

namespace herald::storage::registry::emission {
namespace {

using context::rule_context;

using listener = audiences::listener;

std::vector<listener> listeners_of(const rule_context& context, const event_draft& draft) {
    std::vector<listener> all;
    tables::webhooks::each_of(context.state, draft.workspace_id, {}, [&](schemas::webhook_id id) {
        auto hook = tables::webhooks::find(context.state, id);
        if (hook && id != draft.except && hears(*hook, draft.type, draft.resource_type))
            all.push_back({{hook->id, hook->status == schemas::webhook_status::disabled, hook->revision},
                           std::move(hook->settings.delivery.filter)});
        return all.size() < limits::webhooks_per_workspace_max;
    });
    return all;
}

/// Those whose filters let the body through.
std::vector<schemas::audience_member> audience_among(const std::vector<listener>& all,
                                                     const std::string& body) {
    std::vector<schemas::audience_member> audience;
    std::optional<result<schemas::json_value>> parsed;
    for (const listener& each : all) {
        if (!each.filter.empty() && !parsed) parsed = schemas::parse_json(body);
        if (each.filter.empty() || (*parsed && schemas::passes(each.filter, **parsed)))
            audience.push_back(each.member);
    }
    return audience;
}

std::string name_of_version(const state::state_view& state, schemas::version_id id) {
    const auto version = tables::versions::find(state, id);
    if (!version) return {};
    const auto model = tables::models::find(state, version->registered_model_id);
    return (model ? model->name : std::string()) + "/" + version->version;
}

/// People know a resource by its names. Empty for what is not there, as a resource of another system.
std::string subject_of(const state::state_view& state, const event_draft& draft) {
    const std::uint64_t number = runtime::parse_plain_decimal(draft.resource_id).value_or(0);
    switch (draft.resource_type) {
        case schemas::resource_type::registered_model: {
            auto model = tables::models::find(state, schemas::model_id{number});
            return model ? std::move(model->name) : std::string();
        }
        case schemas::resource_type::registered_model_version:
            return name_of_version(state, schemas::version_id{number});
        case schemas::resource_type::build: {
            const auto build = tables::builds::find(state, schemas::build_id{number});
            return build ? name_of_version(state, build->model_version_id) : std::string();
        }
        default:
            return {};
    }
}

/// Receivers need the name of the workspace to report, because their calls take it.
void tell_where(const rule_context& context, const event_draft& draft, schemas::event& event) {
    if (auto workspace = tables::workspaces::find(context.state, draft.workspace_id))
        event.workspace_name = std::move(workspace->name);
    const std::string& base_url =
        draft.report_base.empty() ? context.command().request.base_url : draft.report_base;
    if (!draft.report_path.empty() && !base_url.empty()) event.report_url = base_url + draft.report_path;
}

}  // namespace

bool is_event_partition(const rule_context& context, std::string_view topic, std::uint64_t partition) {
    return partition < context.event_partitions() &&
           std::find(events::event_topics.begin(), events::event_topics.end(), topic) !=
               events::event_topics.end();
}

const std::vector<audiences::listener>& audiences::of(const rule_context& context, const event_draft& draft) {
    const kind wanted{draft.workspace_id, draft.type, draft.resource_type};
    const auto [place, is_new] = x_known.try_emplace(wanted);
    if (is_new) place->second = listeners_of(context, draft);
    return place->second;
}

std::size_t emit(rule_context& context, event_draft draft) {
    return emit_to_all(context, std::move(draft)).size();
}

std::size_t emit(rule_context& context, event_draft draft, audiences& known) {
    return emit_to_all(context, std::move(draft), known).size();
}

std::vector<schemas::audience_member> emit_to_all(rule_context& context, event_draft draft) {
    audiences none;
    return emit_to_all(context, std::move(draft), none);
}

std::vector<schemas::audience_member> emit_to_all(rule_context& context, event_draft draft,
                                                  audiences& known) {
    const std::vector<listener>& listeners = known.of(context, draft);
    if (listeners.empty()) return {};
    schemas::event event;
    if (draft.id.empty()) draft.id = context.new_event_id();
    event.id = draft.id;
    event.type = draft.type;
    event.resource_type = draft.resource_type;
    event.resource_id = draft.resource_id;
    event.workspace_id = draft.workspace_id;
    event.time_ms = context.time_ms();
    event.generation = context.generation();
    event.offset = context.offset();
    event.body = draft.make_body(draft);
    event.audience = audience_among(listeners, event.body);
    if (event.audience.empty()) return {};
    event.traceparent = context.command().request.traceparent;
    event.request_id = context.command().request.request_id;
    event.subject = subject_of(context.state, draft);
    tell_where(context, draft, event);

    const auto partition =
        static_cast<std::uint64_t>(events::partition_of(draft.resource_id, context.event_partitions()));
    tables::outbox::add(context.state, {std::string(events::topic_of(draft.type)), partition}, event);
    return std::move(event.audience);
}

schemas::object_writer begun_envelope(const event_draft& draft, std::int64_t time_ms) {
    const bool is_about_none = draft.resource_type == schemas::resource_type::none;
    schemas::object_writer out;
    out.text("id", draft.id)
        .text("timestamp", runtime::iso8601_ms(time_ms))
        .text("event_type", schemas::name_of(draft.type))
        .text("resource_type", is_about_none ? "NONE" : schemas::name_of(draft.resource_type))
        .number("workspaceID", draft.workspace_id.value);
    return out;
}

std::string event_envelope(const rule_context& context, const event_draft& draft, std::string_view original,
                           std::string_view updated) {
    return event_envelope(draft, context.time_ms(), original, updated);
}

std::string event_envelope(const event_draft& draft, std::int64_t time_ms, std::string_view original,
                           std::string_view updated) {
    schemas::object_writer out = begun_envelope(draft, time_ms);
    if (!original.empty()) out.raw("original", original);
    if (!updated.empty()) out.raw("updated", updated);
    return out.finish();
}

}  // namespace herald::storage::registry::emission
