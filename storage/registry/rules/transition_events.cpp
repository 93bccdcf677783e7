#include "storage/registry/rules/transition_events.hpp"

#include <array>

#include "schemas/json.hpp"
#include "storage/registry/emission/emission.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/registry/tables/users.hpp"

namespace herald::storage::registry::rules {
namespace {

using context::rule_context;
using schemas::object_writer;

std::string_view name_of(transition_step step) {
    constexpr std::array<std::string_view, 5> names{"requested", "approved", "rejected", "closed",
                                                    "committed"};
    return names[static_cast<std::size_t>(step)];
}

std::string person(const rule_context& context, schemas::user_id id) {
    const schemas::user who = tables::users::find(context.state, id).value_or(schemas::user{});
    return object_writer()
        .number("id", id.value)
        .text("name", who.full_name.empty() ? who.username : who.full_name)
        .text("email", who.email)
        .finish();
}

template <class Id>
std::string named(Id id, std::string_view name) {
    return object_writer().number("id", id.value).text("name", name).finish();
}

std::string body_of(const rule_context& context, const emission::event_draft& draft,
                    const transition_news& told) {
    const schemas::transition& transition = told.after.transition;
    const std::string shown = object_writer()
                                  .number("id", transition.id.value)
                                  .text("source_stage", schemas::name_of(transition.source_stage))
                                  .text("desired_stage", schemas::name_of(transition.desired_stage))
                                  .text("state", schemas::name_of(transition.state))
                                  .text("comment", told.comment)
                                  .finish();
    const auto model = tables::models::find(context.state, told.version.registered_model_id);
    return emission::begun_envelope(draft, context.time_ms())
        .text("action", name_of(told.step))
        .raw("transition", shown)
        .raw("model", named(told.version.registered_model_id, model ? model->name : std::string()))
        .raw("version", named(told.version.id, told.version.version))
        .raw("by", person(context, told.by))
        .raw("requested_by", person(context, told.after.author))
        .finish();
}

}  // namespace

void tell_transition(rule_context& context, const transition_news& told) {
    emission::emit(context,
                   {schemas::event_type::transition,
                    schemas::resource_type::registered_model_version,
                    std::to_string(told.version.id.value),
                    told.version.workspace_id,
                    {},
                    [&](const emission::event_draft& draft) { return body_of(context, draft, told); }});
}

}  // namespace herald::storage::registry::rules
