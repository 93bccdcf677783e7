#include "storage/registry/find/users.hpp"

#include <map>
#include <set>
#include <string>

#include "runtime/text.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/directory.hpp"
#include "storage/registry/find/question.hpp"
#include "storage/registry/find/searching.hpp"
#include "storage/registry/tables/groups.hpp"
#include "storage/registry/tables/sessions.hpp"
#include "storage/registry/tables/users.hpp"

namespace herald::storage::registry::find {
namespace {

using state::state_view;

/// The values that a request allows; no values allow all.
template <class Value>
class choice {
  public:
    explicit choice(std::vector<Value> all) : x_all(all.begin(), all.end()) {}
    bool allows(const Value& one) const { return x_all.empty() || x_all.contains(one); }

  private:
    std::set<Value> x_all;
};
choice<std::string> lower_case(const std::vector<std::string>& all) {
    std::vector<std::string> lower;
    for (const std::string& each : all) lower.push_back(runtime::to_lower(each));
    return choice(std::move(lower));
}

/// The users whom a viewer may see, for a search over many.
class sight {
  public:
    sight(const state_view& state, schemas::user_id viewer)
        : x_state(state),
          x_viewer(viewer),
          x_sees_all(access::is_system_admin(state, viewer)),
          x_shared(organizations_with(state, viewer)) {}

    bool reaches(schemas::user_id user) const {
        if (x_sees_all || user == x_viewer) return true;
        bool found = false;
        tables::members::each_group_of(x_state, user, [&](schemas::group_id id) {
            const auto group = tables::groups::find(x_state, id);
            found = group && x_shared.contains(group->org_id);
            return !found;
        });
        return found;
    }

  private:
    const state_view& x_state;
    const schemas::user_id x_viewer;
    const bool x_sees_all;
    const std::set<schemas::organization_id> x_shared;
};

/// Each by what names them, or all.
class user_search final : public passing_search<tables::users> {
  public:
    user_search(const state_view& state, schemas::user_id viewer, wanted_users wanted, page_of_rows page)
        : passing_search(state, std::move(page)), x_sight(state, viewer), x_wanted(std::move(wanted)) {}

  private:
    bool look_on(pace& pace) override {
        const std::size_t names = x_wanted.ids.size() + x_wanted.emails.size() + x_wanted.usernames.size();
        if (names == 0) return look_at_all(pace);
        while (x_next < names) {
            const auto user = named(x_next++);
            if (user && x_seen.insert(*user).second && tables::users::has(state(), *user) &&
                x_sight.reaches(*user))
                add(user->value);
            if (!pace.pass()) return x_next == names;
        }
        return true;
    }
    bool look_at_all(pace& pace) {
        bool goes_on = true;
        tables::users::each_from(state(), {x_next}, [&](const schemas::user& row) {
            x_next = row.id.value + 1;
            if (!row.removed && x_sight.reaches(row.id)) add(row.id.value);
            return goes_on = pace.pass();
        });
        return goes_on;
    }
    /// Removed users have no e-mail and no username any more.
    std::optional<schemas::user_id> named(std::uint64_t place) const {
        if (place < x_wanted.ids.size()) return x_wanted.ids[place];
        place -= x_wanted.ids.size();
        if (place < x_wanted.emails.size()) return tables::users::with_email(state(), x_wanted.emails[place]);
        return tables::users::named(state(), x_wanted.usernames[place - x_wanted.emails.size()]);
    }
    void correct(schemas::user& row) override { row = as_shown(state(), std::move(row)); }

    const sight x_sight;
    const wanted_users x_wanted;
    std::uint64_t x_next = 0;  // of those named, or the next id
    std::set<schemas::user_id> x_seen;
};

class member_search final : public passing_search<tables::users> {
  public:
    member_search(const state_view& state, schemas::group_id group, page_of_rows page)
        : passing_search(state, std::move(page)), x_group(group) {}

  private:
    bool look_on(pace& pace) override {
        bool goes_on = true;
        tables::members::each_user_of(state(), x_group, x_next, [&](schemas::user_id id) {
            x_next.value = id.value + 1;
            const auto row = tables::users::find(state(), id);
            if (row && !row->removed) add(id.value);
            return goes_on = pace.pass();
        });
        return goes_on;
    }
    void correct(schemas::user& row) override { row = as_shown(state(), std::move(row)); }

    const schemas::group_id x_group;
    schemas::user_id x_next;
};

/// A user's own.
class own_session_search final : public passing_search<tables::sessions> {
  public:
    own_session_search(const state_view& state, schemas::user_id user,
                       std::function<bool(const schemas::session&)> is_wanted, page_of_rows page)
        : passing_search(state, std::move(page)), x_user(user), x_is_wanted(std::move(is_wanted)) {}

  private:
    /// A user has few.
    bool look_on(pace&) override {
        tables::sessions::each_of(state(), x_user, [&](schemas::session_id id) {
            const auto row = tables::sessions::find(state(), id);
            if (row && x_is_wanted(*row)) add(id.value);
            return true;
        });
        return true;
    }

    const schemas::user_id x_user;
    const std::function<bool(const schemas::session&)> x_is_wanted;
};

/// In this organisation, or in any.
bool is_in_admins(const state_view& state, schemas::user_id user,
                  std::optional<schemas::organization_id> org = std::nullopt) {
    bool found = false;
    tables::members::each_group_of(state, user, [&](schemas::group_id id) {
        const auto group = tables::groups::find(state, id);
        found = group && group->built_in && group->name == "Admins" && (!org || group->org_id == *org);
        return !found;
    });
    return found;
}

schemas::group_id all_users_of(const state_view& state, schemas::organization_id org) {
    schemas::group_id found;
    tables::groups::each(state, [&](const schemas::group& group) {
        if (group.org_id == org && group.built_in && group.name == "All Users") found = group.id;
        return !found;
    });
    return found;
}

}  // namespace

bool may_see(const state_view& state, schemas::user_id viewer, const schemas::user& row) {
    return sight(state, viewer).reaches(row.id);
}

bool looks_after(const state_view& state, schemas::user_id administrator, const schemas::user& account) {
    return account.service_account && !account.removed && !account.system_admin && account.org_id &&
           is_in_admins(state, administrator, account.org_id);
}

result<search_pointer<schemas::user>> search_users(const state_view& state, schemas::user_id viewer,
                                                   wanted_users wanted) {
    return begun<user_search>(
        page_by_age(wanted.pagination, question("users", wanted.ids, wanted.emails, wanted.usernames)), state,
        viewer, std::move(wanted));
}

result<search_pointer<schemas::user>> search_members(const state_view& state, schemas::organization_id org,
                                                     const std::optional<schemas::pagination>& pagination) {
    return begun<member_search>(page_by_age(pagination, question("members", org)), state,
                                all_users_of(state, org));
}

result<search_pointer<schemas::session>> search_sessions(const state_view& state, schemas::user_id user,
                                                         wanted_sessions wanted) {
    auto page = page_by_age(wanted.pagination, question("sessions", wanted.ids, wanted.users, wanted.names));
    auto is_wanted = [ids = choice(std::move(wanted.ids)), users = choice(std::move(wanted.users)),
                      names = choice(std::move(wanted.names))](const schemas::session& row) {
        return ids.allows(row.id) && users.allows(row.user_id) && names.allows(row.name);
    };
    const bool sees_all = access::is_system_admin(state, user);
    if (!sees_all && !is_in_admins(state, user))
        return begun<own_session_search>(std::move(page), state, user, std::move(is_wanted));
    // The users that were looked at, and whether their sessions are visible.
    auto is_seen = [&state, user, sees_all,
                    others = std::map<schemas::user_id, bool>{}](schemas::user_id of) mutable {
        if (sees_all || of == user) return true;
        const auto [at, is_new] = others.try_emplace(of, false);
        if (is_new)
            if (const auto row = tables::users::find(state, of)) at->second = looks_after(state, user, *row);
        return at->second;
    };
    return begun<filtering_search<tables::sessions>>(
        std::move(page), state,
        [is_wanted = std::move(is_wanted), is_seen = std::move(is_seen)](
            const schemas::session& row) mutable { return is_wanted(row) && is_seen(row.user_id); });
}

result<search_pointer<schemas::user>> search_service_accounts(const state_view& state, schemas::user_id user,
                                                              wanted_accounts wanted) {
    auto page = page_by_age(wanted.pagination,
                            question("service accounts", wanted.ids, wanted.workspaces, wanted.usernames));
    auto is_wanted = [ids = choice(std::move(wanted.ids)), workspaces = choice(std::move(wanted.workspaces)),
                      usernames = lower_case(wanted.usernames), own = organizations_with(state, user),
                      sees_all = access::is_system_admin(state, user)](const schemas::user& row) {
        return row.service_account && !row.removed && ids.allows(row.id) &&
               workspaces.allows(row.associated_workspace_id) &&
               usernames.allows(runtime::to_lower(row.username)) && (sees_all || own.contains(row.org_id));
    };
    return begun<filtering_search<tables::users>>(std::move(page), state, std::move(is_wanted));
}

result<search_pointer<schemas::user>> search_system_admins(
    const state_view& state, const std::optional<schemas::pagination>& pagination) {
    return begun<filtering_search<tables::users>>(page_by_age(pagination, question("system administrators")),
                                                  state,
                                                  [](const schemas::user& row) { return row.system_admin; });
}

}  // namespace herald::storage::registry::find
