#include "storage/registry/find/directory.hpp"

#include "storage/registry/access/access.hpp"
#include "storage/registry/tables/groups.hpp"
#include "storage/registry/tables/users.hpp"
#include "storage/registry/tables/workspaces.hpp"

namespace herald::storage::registry::find {
namespace {

using state::state_view;

bool is_in_organization(const state_view& state, schemas::user_id user, schemas::organization_id org) {
    bool found = false;
    tables::members::each_group_of(state, user, [&](schemas::group_id id) {
        const auto group = tables::groups::find(state, id);
        found = group && group->org_id == org;
        return !found;
    });
    return found;
}

template <class Table>
std::vector<typename Table::row_type> rows_of(const state_view& state, schemas::organization_id org) {
    std::vector<typename Table::row_type> rows;
    Table::each(state, [&](const auto& row) {
        if (row.org_id == org) rows.push_back(row);
        return true;
    });
    return rows;
}

}  // namespace

std::optional<schemas::user> user_with_email(const state_view& state, std::string_view email) {
    const auto id = tables::users::with_email(state, email);
    if (!id) return std::nullopt;
    return tables::users::find(state, *id);
}

std::vector<schemas::workspace> visible_workspaces(const state_view& state, schemas::user_id user) {
    std::vector<schemas::workspace> seen;
    tables::workspaces::each(state, [&](const schemas::workspace& workspace) {
        if (access::is_visible(state, user, workspace)) seen.push_back(workspace);
        return true;
    });
    return seen;
}

std::vector<schemas::organization> organizations_of(const state_view& state, schemas::user_id user) {
    std::vector<schemas::organization> seen;
    tables::organizations::each(state, [&](const schemas::organization& organization) {
        if (is_in_organization(state, user, organization.id)) seen.push_back(organization);
        return true;
    });
    return seen;
}

std::optional<schemas::organization> organization_of(const state_view& state, schemas::user_id user,
                                                     schemas::organization_id id) {
    auto found = tables::organizations::find(state, id);
    if (!found || !is_in_organization(state, user, id)) return std::nullopt;
    return found;
}

std::vector<schemas::group> groups_of(const state_view& state, schemas::organization_id org) {
    return rows_of<tables::groups>(state, org);
}

std::vector<schemas::role> roles_of(const state_view& state, schemas::organization_id org) {
    return rows_of<tables::roles>(state, org);
}

}  // namespace herald::storage::registry::find
