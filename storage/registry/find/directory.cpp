#include "storage/registry/find/directory.hpp"

#include <map>

#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/question.hpp"
#include "storage/registry/find/searching.hpp"
#include "storage/registry/tables/groups.hpp"
#include "storage/registry/tables/users.hpp"
#include "storage/registry/tables/workspaces.hpp"

namespace herald::storage::registry::find {
namespace {

using state::state_view;

bool is_removed(const schemas::workspace& row) { return row.removed; }
bool is_removed(const auto&) { return false; }

template <class Table>
std::vector<typename Table::row_type> rows_of(const state_view& state, schemas::organization_id org) {
    std::vector<typename Table::row_type> rows;
    Table::each(state, [&](const auto& row) {
        if (row.org_id == org && !is_removed(row)) rows.push_back(row);
        return true;
    });
    return rows;
}

template <class Table>
result<search_pointer<typename Table::row_type>> search_of(
    const state_view& state, std::string_view kind, schemas::organization_id org,
    const std::optional<schemas::pagination>& pagination) {
    auto is_wanted = [org](const auto& row) { return row.org_id == org && !is_removed(row); };
    return begun<filtering_search<Table>>(page_by_age(pagination, question(kind, org)), state, is_wanted);
}

class visible_search final : public passing_search<tables::workspaces> {
  public:
    visible_search(const state_view& state, schemas::user_id user, page_of_rows page)
        : passing_search(state, std::move(page)),
          x_user(user),
          x_organizations(organizations_with(state, user)) {}

  private:
    bool look_on(pace& pace) override {
        bool goes_on = true;
        tables::workspaces::each_from(state(), x_next, [&](const schemas::workspace& row) {
            x_next.value = row.id.value + 1;
            look_at(row);
            return goes_on = pace.pass();
        });
        if (!goes_on) return false;
        for (const auto& [org, workspace] : x_built_in)
            if (!x_seen.contains(org)) add(workspace.value);
        return true;
    }
    void look_at(const schemas::workspace& row) {
        if (row.removed) return;
        if (!row.org_id && row.owner == x_user) return add(row.id.value, 1);
        if (!row.org_id && row.permissions.empty()) return;  // somebody else's
        if (access::is_visible(state(), x_user, row, access::remembering::no)) {
            x_seen.insert(row.org_id);
            add(row.id.value);
        } else if (row.built_in && x_organizations.contains(row.org_id)) {
            x_built_in.emplace(row.org_id, row.id);
        }
    }

    const schemas::user_id x_user;
    const std::set<schemas::organization_id> x_organizations;
    schemas::workspace_id x_next;
    std::set<schemas::organization_id> x_seen;  // of which a workspace is seen
    std::map<schemas::organization_id, schemas::workspace_id> x_built_in;
};

}  // namespace

std::set<schemas::organization_id> organizations_with(const state_view& state, schemas::user_id user) {
    std::set<schemas::organization_id> all;
    tables::members::each_group_of(state, user, [&](schemas::group_id id) {
        if (const auto group = tables::groups::find(state, id)) all.insert(group->org_id);
        return true;
    });
    return all;
}

std::optional<schemas::user> user_with_email(const state_view& state, std::string_view email) {
    const auto id = tables::users::with_email(state, email);
    if (!id) return std::nullopt;
    return tables::users::find(state, *id);
}

schemas::user as_shown(const state_view& state, schemas::user user) {
    user.default_workspace_id = access::default_workspace_of(state, user);
    return user;
}

std::optional<schemas::user> user_with_id(const state_view& state, schemas::user_id id) {
    return tables::users::find(state, id);
}

std::optional<schemas::user> user_named(const state_view& state, std::string_view username) {
    const auto id = tables::users::named(state, username);
    if (!id) return std::nullopt;
    return tables::users::find(state, *id);
}

schemas::group_members with_members(const state_view& state, schemas::group group) {
    schemas::group_members out;
    tables::members::each_user_of(state, group.id, {}, [&](schemas::user_id id) {
        out.member_ids.push_back(id);
        return out.member_ids.size() < limits::list_rows_max;
    });
    out.group = std::move(group);
    return out;
}

result<search_pointer<schemas::workspace>> search_visible_workspaces(
    const state_view& state, schemas::user_id user, const std::optional<schemas::pagination>& pagination) {
    schemas::find_request request;
    request.ascending = true;  // by time_updated, which is the rank here
    request.pagination = pagination;
    return begun<visible_search>(page_of_rows::of(request, question("visible workspaces")), state, user);
}

result<search_pointer<schemas::organization>> search_organizations(
    const state_view& state, schemas::user_id user, const std::optional<schemas::pagination>& pagination) {
    auto is_seen = [own = organizations_with(state, user), sees_all = access::is_system_admin(state, user)](
                       const schemas::organization& row) { return sees_all || own.contains(row.id); };
    return begun<filtering_search<tables::organizations>>(page_by_age(pagination, question("organizations")),
                                                          state, std::move(is_seen));
}

std::optional<schemas::organization> organization_of(const state_view& state, schemas::user_id user,
                                                     schemas::organization_id id) {
    auto found = tables::organizations::find(state, id);
    if (!found) return std::nullopt;
    if (!access::is_in_organization(state, user, id) && !access::is_system_admin(state, user))
        return std::nullopt;
    return found;
}

std::optional<schemas::organization> organization_named(const state_view& state, schemas::user_id user,
                                                        std::string_view name) {
    const bool sees_all = access::is_system_admin(state, user);
    const auto own = organizations_with(state, user);
    std::optional<schemas::organization> found;
    tables::organizations::each(state, [&](const schemas::organization& each) {
        if (each.name == name && (sees_all || own.contains(each.id))) found = each;
        return !found;
    });
    return found;
}

std::optional<schemas::group> group_of(const state_view& state, schemas::organization_id org,
                                       schemas::group_id id) {
    auto found = tables::groups::find(state, id);
    if (!found || found->org_id != org) return std::nullopt;
    return found;
}

std::optional<schemas::role> role_of(const state_view& state, schemas::organization_id org,
                                     schemas::role_id id) {
    auto found = tables::roles::find(state, id);
    if (!found || found->org_id != org) return std::nullopt;
    return found;
}

std::vector<schemas::group> groups_of(const state_view& state, schemas::organization_id org) {
    return rows_of<tables::groups>(state, org);
}

std::vector<schemas::role> roles_of(const state_view& state, schemas::organization_id org) {
    return rows_of<tables::roles>(state, org);
}

std::vector<schemas::workspace> workspaces_of(const state_view& state, schemas::organization_id org) {
    return rows_of<tables::workspaces>(state, org);
}

result<search_pointer<schemas::group>> search_groups(const state_view& state, schemas::organization_id org,
                                                     const std::optional<schemas::pagination>& pagination) {
    return search_of<tables::groups>(state, "groups", org, pagination);
}

result<search_pointer<schemas::role>> search_roles(const state_view& state, schemas::organization_id org,
                                                   const std::optional<schemas::pagination>& pagination) {
    return search_of<tables::roles>(state, "roles", org, pagination);
}

result<search_pointer<schemas::workspace>> search_workspaces(
    const state_view& state, schemas::organization_id org,
    const std::optional<schemas::pagination>& pagination) {
    return search_of<tables::workspaces>(state, "workspaces", org, pagination);
}

}  // namespace herald::storage::registry::find
