// Protects the decision about who may call what: for each row of the route table, every kind of caller and
// every kind of body gets the status that follows from the row.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "runtime/http/limits.hpp"
#include "storage/registry/tables/groups.hpp"
#include "storage/registry/tables/installation.hpp"
#include "storage/registry/tables/workspaces.hpp"
#include "tests/unit/api/route_world.hpp"

namespace herald::test {
namespace {

using api::calls::authentication;
using api::calls::needed_right;
using api::calls::route;
using schemas::action;
using schemas::protected_type;

constexpr schemas::role_id read_write{2};  // built in
constexpr schemas::role_id read_only{3};

using storage::registry::state::state_changes;

constexpr std::uint64_t first_group = 100;

/// Groups `first_group`, `first_group` + 1 … whose members have these roles in the organisation's workspace.
/// There is no call for that yet.
void add_groups(state_changes& state, const std::vector<schemas::role_id>& roles) {
    schemas::workspace workspace =
        *storage::registry::tables::workspaces::find(state, schemas::workspace_id{1});
    for (const schemas::role_id role : roles) {
        schemas::group group;
        group.id.value = first_group + workspace.permissions.size();
        group.org_id = workspace.org_id;
        group.name = "group " + std::to_string(group.id.value);
        storage::registry::tables::groups::put(state, group);
        workspace.permissions.push_back({group.id, role});
    }
    storage::registry::tables::workspaces::put(state, workspace);
}

/// A role of every action for which `may` holds.
template <class May>
schemas::role_id add_role(state_changes& state, std::uint64_t id, const May& may,
                          bool reports_scans = false) {
    schemas::role role;
    role.id.value = id;
    role.org_id.value = 1;
    role.name = "role " + std::to_string(id);
    role.reports_scans = reports_scans;
    for (const auto& [type, type_name] : schemas::enum_names<protected_type>) {
        if (type == protected_type::none) continue;
        schemas::resource_actions allowed{type, {}};
        for (const auto& [what, name] : schemas::enum_names<action>)
            if (what != action::none && may(type, what)) allowed.allowed_actions.push_back(what);
        role.actions.push_back(std::move(allowed));
    }
    storage::registry::tables::roles::put(state, role);
    return role.id;
}

class callers : public route_world {
  protected:
    explicit callers(const preparation& prepare = {}) : route_world(prepare) {}
    static std::string place(const route& row, std::string_view who) {
        return std::string(row.name) + " by " + std::string(who);
    }
};

/// The export is a read, which sees to that itself. Webhooks are theirs as long as the installation says
/// nothing else.
bool is_for_system_administrators(const route& row) {
    constexpr std::array<std::string_view, 3> reads{"export_audit", "list_backups", "list_snapshots"};
    return row.who == authentication::system_administrator ||
           row.who == authentication::webhook_administrator ||
           std::find(reads.begin(), reads.end(), row.name) != reads.end();
}

TEST_F(callers, who_shows_nothing_or_something_wrong_is_401_but_where_anybody_may_ask) {
    const caller wrong_key{node.administrator.email, "wrong"};
    const caller nobody{"nobody@example.org", node.administrator.key};
    for (const caller* who : {static_cast<const caller*>(nullptr), &wrong_key, &nobody})
        for (const route& row : api::routes::all_routes()) {
            const int status = ask_sample(who, row).status();
            if (is_open(row))
                EXPECT_NE(status, 401) << row.name;
            else
                EXPECT_EQ(status, 401) << row.name;
        }
}

TEST_F(callers, a_stranger_finds_nothing_that_needs_a_right_and_may_not_what_administrators_may) {
    for (const route& row : api::routes::all_routes()) {
        if (is_open(row)) continue;
        const reply got = ask_sample(&stranger, row);
        if (is_for_system_administrators(row) || row.who == authentication::organization_administrator)
            EXPECT_EQ(got.status(), 403) << place(row, "a stranger") << ": " << got.body();
        else if (row.right)
            EXPECT_EQ(got.status(), 404) << place(row, "a stranger") << ": " << got.body();
        else
            EXPECT_NE(got.status(), 401) << place(row, "a stranger");
    }
}

TEST_F(callers, a_member_of_admins_may_all_but_what_system_administrators_may) {
    for (const route& row : api::routes::all_routes()) {
        if (is_open(row) || row.is_absent) continue;
        const int status = ask_sample(&second, row).status();
        if (is_for_system_administrators(row))
            EXPECT_EQ(status, 403) << place(row, "a member of Admins");
        else
            EXPECT_EQ(status, 200) << place(row, "a member of Admins");
    }
}

TEST_F(callers, the_system_administrator_may_all) {
    for (const route& row : api::routes::all_routes())
        if (!is_open(row) && !row.is_absent)
            EXPECT_EQ(ask_sample(&node.administrator, row).status(), 200) << row.name;
}

/// An installation with --webhooks-by workspace-admins.
class webhook_admins : public callers {
  protected:
    webhook_admins()
        : callers([](state_changes& state) {
              add_groups(state, {read_only, read_write});
              storage::registry::tables::installation_settings::put(state,
                                                                    {schemas::webhooks_by::workspace_admins});
          }) {}
};

TEST_F(webhook_admins, are_members_of_admins_and_nobody_with_less) {
    const caller editor = node.member_of(first_group + 1, "editor@example.org");
    std::size_t rows = 0;
    for (const route& row : api::routes::all_routes()) {
        if (row.who != authentication::webhook_administrator) continue;
        ++rows;
        if (row.name != "create_webhook")  // in their own workspace
            EXPECT_EQ(ask_sample(&editor, row).status(), 403) << place(row, "an editor");
    }
    EXPECT_EQ(rows, 6u);
    for (const route& row : api::routes::all_routes())
        if (row.who == authentication::webhook_administrator)
            EXPECT_EQ(ask_sample(&second, row).status(), 200) << place(row, "a member of Admins");
}

/// Members who are no admins: in the organisation's workspace, one may read everything, the other do
/// everything.
class members : public callers {
  protected:
    members() : callers([](state_changes& state) { add_groups(state, {read_only, read_write}); }) {}
    void SetUp() override {
        callers::SetUp();
        reader = node.member_of(first_group, "reader@example.org");
        editor = node.member_of(first_group + 1, "editor@example.org");
    }
    /// What only a member of Admins may do, though no single right says so.
    static bool needs_admin(const route& row) {
        return is_for_system_administrators(row) || row.who == authentication::organization_administrator ||
               row.name == "trigger_test" || row.name == "webhook_health" || row.name == "put_policies" ||
               row.name == "find_audit";
    }

    caller reader{}, editor{};
};

TEST_F(members, a_reader_reads_everything_and_changes_nothing) {
    for (const route& row : api::routes::all_routes()) {
        if (is_open(row) || row.is_absent) continue;
        const bool may = !needs_admin(row) && (!row.right || row.right->action == action::read);
        const reply got = ask_sample(&reader, row);
        EXPECT_EQ(got.status(), may ? 200 : 403) << place(row, "a reader") << ": " << got.body();
        if (!may) EXPECT_EQ(got.at("code"), "7") << place(row, "a reader");
    }
}

TEST_F(members, an_editor_may_all_but_what_admins_may) {
    for (const route& row : api::routes::all_routes()) {
        if (is_open(row) || row.is_absent) continue;
        const reply got = ask_sample(&editor, row);
        EXPECT_EQ(got.status(), needs_admin(row) ? 403 : 200)
            << place(row, "an editor") << ": " << got.body();
    }
}

/// The rights other than READ that rows state.
std::vector<needed_right> stated_rights() {
    std::vector<needed_right> all;
    for (const route& row : api::routes::all_routes()) {
        if (row.right && row.right->action != action::read &&
            std::find(all.begin(), all.end(), *row.right) == all.end())
            all.push_back(*row.right);
    }
    return all;
}

/// For each of these rights, a caller who has it and READ of everything, and one who has all others.
class rights : public callers {
  protected:
    rights() : callers(add_roles) {}

    static void add_roles(state_changes& state) {
        std::vector<schemas::role_id> roles;
        for (const needed_right& one : stated_rights()) {
            const auto is_it = [&](protected_type on, action what) {
                return on == one.on && what == one.action;
            };
            const auto is_read_or_it = [&](protected_type on, action what) {
                return what == action::read || is_it(on, what);
            };
            const auto is_other = [&](protected_type on, action what) {
                return !is_it(on, what) && !(on == one.instead_on.value_or(one.on) && what == one.instead);
            };
            roles.push_back(add_role(state, 100 + roles.size(), is_read_or_it));
            roles.push_back(add_role(state, 100 + roles.size(), is_other));
        }
        add_groups(state, roles);
    }
    static std::string text_of(const needed_right& right) {
        return std::string(name_of(right.on)) + "." + std::string(name_of(right.action)) + "." +
               std::string(name_of(right.instead)) + (right.or_reports_scans ? ".or" : "");
    }
    /// The status of each row that states the right.
    void expect(const caller& who, const needed_right& right, int status) {
        int rows = 0;
        for (const route& row : api::routes::all_routes()) {
            if (row.right != right) continue;
            ++rows;
            const reply got = ask_sample(&who, row);
            EXPECT_EQ(got.status(), status) << place(row, who.email) << ": " << got.body();
        }
        EXPECT_GT(rows, 0) << text_of(right);
    }
};

TEST_F(rights, without_the_one_that_a_row_states_it_is_403_and_with_it_alone_200) {
    std::uint64_t group = first_group;
    for (const needed_right& right : stated_rights()) {
        const caller has_it = node.member_of(group++, "has." + text_of(right) + "@example.org");
        const caller lacks_it = node.member_of(group++, "lacks." + text_of(right) + "@example.org");
        expect(lacks_it, right, 403);
        expect(has_it, right, 200);
    }
    EXPECT_GE(group, first_group + 8) << "few rights are stated";
}

/// For each alternative that a row states, a caller who has it, and not what the row states first.
class alternatives : public callers {
  protected:
    alternatives() : callers(add_roles) {}

    static std::vector<needed_right> stated() {
        std::vector<needed_right> all;
        for (const route& row : api::routes::all_routes())
            if (row.right && (row.right->instead != action::none || row.right->or_reports_scans) &&
                std::find(all.begin(), all.end(), *row.right) == all.end())
                all.push_back(*row.right);
        return all;
    }
    static void add_roles(state_changes& state) {
        std::vector<schemas::role_id> roles;
        for (const needed_right& one : stated()) {
            const auto may = [&](protected_type on, action what) {
                if (on == one.on && what == one.action) return false;
                return what == action::read || (on == one.instead_on.value_or(one.on) && what == one.instead);
            };
            roles.push_back(add_role(state, 100 + roles.size(), may, one.or_reports_scans));
        }
        add_groups(state, roles);
    }
};

TEST_F(alternatives, what_a_row_says_will_do_as_well_does) {
    std::uint64_t group = first_group;
    for (const needed_right& right : stated()) {
        const caller other = node.member_of(group, "other" + std::to_string(group) + "@example.org");
        ++group;
        for (const route& row : api::routes::all_routes())
            if (row.right == right) {
                const reply got = ask_sample(&other, row);
                EXPECT_EQ(got.status(), 200) << place(row, other.email) << ": " << got.body();
            }
    }
    EXPECT_GE(group, first_group + 4) << "few alternatives are stated";
}

/// The order of refusals (wire.md §1): the form is checked before existence and rights.
TEST_F(members, a_body_of_the_wrong_form_is_400_to_all_who_have_a_key_and_one_too_large_413_to_anybody) {
    const std::string large(limits::management_body_bytes_max + 1, ' ');
    for (const route& row : api::routes::all_routes()) {
        if (!row.has_body()) continue;
        EXPECT_EQ(ask(nullptr, row, large).status(), 413) << place(row, "nobody");
        EXPECT_EQ(ask(nullptr, row, "[]").status(), is_open(row) ? 400 : 401) << place(row, "nobody");
        for (const caller* who : std::initializer_list<const caller*>{&stranger, &reader, &editor, &second,
                                                                      &node.administrator}) {
            EXPECT_EQ(ask(who, row, large).status(), 413) << place(row, who->email);
            EXPECT_EQ(ask(who, row, "[]").status(), 400) << place(row, who->email);
            EXPECT_EQ(ask(who, row, "{").status(), 400) << place(row, who->email);
            EXPECT_EQ(ask(who, row, R"({"no_such_member":1})", "", "Prefer: handling=strict\r\n").status(),
                      400)
                << place(row, who->email);
            if (row.needs_body) EXPECT_EQ(ask(who, row, "").status(), 400) << place(row, who->email);
        }
    }
}

TEST_F(callers, what_clients_take_for_absent_is_403_to_all_who_have_a_key) {
    std::size_t count = 0;
    for (const route& row : api::routes::all_routes()) {
        if (!row.is_absent) continue;
        ++count;
        for (const caller* who : {&node.administrator, static_cast<const caller*>(&stranger)}) {
            const reply got = ask_sample(who, row);
            EXPECT_EQ(got.status(), 403) << place(row, who->email);
            EXPECT_EQ(got.at("code"), "7");
        }
    }
    EXPECT_EQ(count, 1u) << "GET /api/v1/deployment/stages/{stage}/kafka";
}

TEST_F(callers, a_test_of_a_webhook_that_one_may_not_see_finds_none) {
    const std::string path = "/api/v1/uac-proxy/events/triggerTest";
    EXPECT_EQ(node.ask(&stranger, "POST", path, R"({"webhook_id":2})").status(), 404);
    EXPECT_EQ(node.ask(&stranger, "POST", path, "{}").status(), 400);
    EXPECT_EQ(node.ask(&second, "POST", path, R"({"webhook_id":2})").status(), 200);
}

}  // namespace
}  // namespace herald::test
