#include "storage/registry/find/event_subjects.hpp"

#include "runtime/random.hpp"
#include "runtime/text.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/tables/audit.hpp"
#include "storage/registry/tables/builds.hpp"
#include "storage/registry/tables/endpoints.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/registry/tables/outbox.hpp"
#include "storage/registry/tables/users.hpp"
#include "storage/registry/tables/versions.hpp"

namespace herald::storage::registry::find {
namespace {

using schemas::resource_type;

std::optional<schemas::model_version> version_with(const state::state_view& state, schemas::version_id id) {
    auto version = tables::versions::find(state, id);
    if (version && !access::is_there(state, *version)) return std::nullopt;
    return version;
}

void name_version(const state::state_view& state, schemas::version_id id, event_subject& out) {
    const auto version = version_with(state, id);
    if (!version) return;
    out.version = version->version;
    if (const auto model = tables::models::find(state, version->registered_model_id)) out.model = model->name;
}

bool has_endpoint(const state::state_view& state, std::string_view text) {
    const auto id = runtime::parse_uuid(text);
    return id && tables::endpoints::has(state, *id);
}

}  // namespace

event_subject subject_of(const state::state_view& state, resource_type type, std::string_view resource_id) {
    event_subject out;
    const auto number = runtime::parse_plain_decimal(resource_id);
    if (!number) return out;
    if (type == resource_type::registered_model) {
        if (const auto model = tables::models::find(state, schemas::model_id{*number}))
            out.model = model->name;
    } else if (type == resource_type::registered_model_version) {
        name_version(state, schemas::version_id{*number}, out);
    } else if (type == resource_type::build) {
        out.build = resource_id;
        if (const auto build = tables::builds::find(state, schemas::build_id{*number}))
            name_version(state, build->model_version_id, out);
    }
    return out;
}

bool may_read_subject(const state::state_view& state, schemas::user_id user,
                      const schemas::workspace& workspace, resource_type type, std::string_view resource_id) {
    if (type == resource_type::endpoint)
        return has_endpoint(state, resource_id) &&
               access::is_allowed(state, user, workspace, schemas::protected_type::endpoint,
                                  schemas::action::read);
    const auto number = runtime::parse_plain_decimal(resource_id);
    if (!number) return false;
    if (type == resource_type::registered_model)
        return bool(access::readable_model(state, user, schemas::model_id{*number}));
    if (type == resource_type::registered_model_version)
        return bool(access::readable_version(state, user, schemas::version_id{*number}));
    if (type == resource_type::build)
        return bool(access::readable_build(state, user, schemas::build_id{*number}));
    return false;
}

bool may_resend_about(const state::state_view& state, schemas::user_id user,
                      const schemas::workspace& workspace, resource_type type, std::string_view resource_id) {
    if (!may_read_subject(state, user, workspace, type, resource_id)) return false;
    const bool is_endpoint = type == resource_type::endpoint;
    return access::is_allowed(
        state, user, workspace,
        is_endpoint ? schemas::protected_type::endpoint : schemas::protected_type::registered_model,
        is_endpoint ? schemas::action::deploy : schemas::action::update);
}

std::optional<schemas::event> find_event(const state::state_view& state, std::string_view event_id) {
    return tables::outbox::find(state, event_id);
}

std::int64_t oldest_event_ms(const state::state_view& state) {
    std::int64_t oldest_ms = 0;
    tables::outbox::each_from(state, 0, {}, [&](const tables::outbox::summary& each) {
        oldest_ms = each.time_ms;
        return false;
    });
    return oldest_ms;
}

/// Rows of the audit stand in the order of their commands.
std::string who_caused(const state::state_view& state, const schemas::event& event) {
    const schemas::audit_head head = tables::audit_rows::head(state);
    std::uint64_t first = head.first, behind = head.last + 1;
    while (first < behind) {
        const std::uint64_t middle = first + (behind - first) / 2;
        const auto row = tables::audit_rows::find(state, middle);
        if (!row) return {};
        if (row->generation == event.generation && row->offset == event.offset) {
            const auto user = tables::users::find(state, row->user_id);
            return user ? user->email : std::string();
        }
        const bool is_before = row->generation != event.generation ? row->generation < event.generation
                                                                   : row->offset < event.offset;
        if (is_before)
            first = middle + 1;
        else
            behind = middle;
    }
    return {};
}

}  // namespace herald::storage::registry::find
