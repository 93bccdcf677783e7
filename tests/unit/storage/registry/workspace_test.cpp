// Protects workspaces: who sees them, what keeps them, and that nothing of a deleted one is left (wire.md
// §2).
#include <gmock/gmock.h>

#include "storage/registry/find/directory.hpp"
#include "storage/registry/tables/builds.hpp"
#include "storage/registry/tables/timers.hpp"
#include "storage/registry/tables/users.hpp"
#include "storage/registry/tables/workspaces.hpp"
#include "tests/unit/storage/registry/identity.hpp"

namespace herald::test {
namespace {

using namespace schemas::commands;
using namespace storage::registry;
using schemas::action;

TEST_F(identity, a_workspace_counts_with_the_permissions_that_it_has_now) {
    const auto role = role_of({action::read});
    const auto workspace = workspace_of({{all_users, role.id}});
    EXPECT_TRUE(may(plain, action::read));
    workspace_of({}, workspace.id);
    EXPECT_FALSE(may(plain, action::read));
    done(delete_role{first, role.id});
}

TEST_F(identity, a_deleted_workspace_is_not_there_any_more_and_its_builds_follow) {
    const auto role = role_of({action::read});
    const auto workspace = workspace_of({{all_users, role.id}});
    const auto version = registry.version_named("v", registry.model_named("m").id);
    create_build build;
    build.workspace_name = "shared";
    build.model_version_id = version.id;
    build.external_location = "registry.example.org/m";
    const auto made = registry.must<schemas::build>(build);
    done(delete_workspace{first, workspace.id});
    EXPECT_FALSE(may(plain, action::read));
    EXPECT_EQ(access::readable_build(*registry.view(), registry.admin, made.id).error().code,
              error_code::not_found);
    done(no_operation{});
    EXPECT_FALSE(tables::builds::has(*registry.view(), made.id));
    EXPECT_FALSE(tables::workspaces::has(*registry.view(), workspace.id));
    workspace_of({});  // the name is free
}

TEST_F(identity, a_workspace_that_holds_something_is_not_deleted) {
    const auto workspace = workspace_of({});
    create_model model;
    model.workspace_name = "shared";
    model.model.name = "m";
    done(model);
    const auto refused = registry.run(delete_workspace{first, workspace.id});
    EXPECT_EQ(code_of(refused), error_code::failed_precondition);
    EXPECT_THAT(refused.message, testing::HasSubstr("registered models"));
}

TEST_F(identity, the_default_workspace_falls_back_to_the_own_one) {
    const auto role = role_of({action::read});
    const auto workspace = workspace_of({{all_users, role.id}});
    update_user update;
    update.default_workspace_id = workspace.id;
    ASSERT_EQ(registry.run_as(plain, update).code, 0u);
    const auto shown = [&] {
        const auto view = registry.view();
        return find::as_shown(*view, *tables::users::find(*view, plain)).default_workspace_id;
    };
    EXPECT_EQ(shown(), workspace.id);
    workspace_of({}, workspace.id);
    EXPECT_EQ(access::find_workspace(*registry.view(), shown())->owner, plain) << "it may not be read";
    workspace_of({{all_users, role.id}}, workspace.id);
    EXPECT_EQ(shown(), workspace.id);
    done(delete_workspace{first, workspace.id});
    EXPECT_EQ(access::find_workspace(*registry.view(), shown())->owner, plain) << "it is gone";
}

TEST_F(identity, workspaces_are_seen_by_id_the_own_one_last) {
    const auto names = [&] {
        std::vector<std::string> all;
        const auto view = registry.view();
        const auto page = whole(find::search_visible_workspaces(*view, plain, {}));
        for (const auto& each : page->rows) all.push_back(each.name);
        return all;
    };
    EXPECT_THAT(names(), testing::ElementsAre("default", "b@example.org"))
        << "the organisation's built-in one, without rights";
    workspace_of({{all_users, role_of({action::read}).id}});
    EXPECT_THAT(names(), testing::ElementsAre("shared", "b@example.org"));
    const auto org = registry.must<schemas::organization>(set_organization{{}, "Research"}).id;
    done(add_organization_user{org, "b@example.org"});
    EXPECT_THAT(names(), testing::ElementsAre("shared", "Research", "b@example.org"))
        << "of each organization";
}

TEST_F(identity, nobody_keeps_a_user_by_taking_the_name_of_the_workspace) {
    const std::string removed = "b@example.org (removed " + std::to_string(plain.value);
    for (const char* end : {")", ", 2)"}) {
        set_workspace taken;
        taken.org_id = first;
        taken.name = removed + end;
        registry.must<schemas::workspace>(taken);
    }
    done(remove_user{plain});
    const auto handed = access::workspace_named(*registry.view(), removed + ", 3)");
    ASSERT_TRUE(handed);
    EXPECT_EQ(handed->org_id, first);
}

TEST_F(identity, builds_of_a_deleted_workspace_are_swept_in_steps) {
    const auto workspace = workspace_of({{all_users, role_of({action::read}).id}});
    create_build build;
    build.workspace_name = "shared";
    build.external_location = "registry.example.org/m:1";
    build.model_version_id = registry.version_named("v", registry.model_named("m").id).id;
    std::vector<schemas::build_id> made;
    for (int i = 0; i < 400; ++i) made.push_back(registry.must<schemas::build>(build).id);
    build.workspace_name = "default";
    const auto kept = registry.must<schemas::build>(build);
    const auto asked = registry.run(request_scan{"shared", made[200], {}});
    ASSERT_EQ(asked.code, 0u) << asked.message;
    done(delete_workspace{first, workspace.id});
    done(no_operation{});
    EXPECT_FALSE(tables::builds::has(*registry.view(), made.back()));
    EXPECT_TRUE(tables::builds::has(*registry.view(), made.front())) << "a step is bounded";
    EXPECT_TRUE(tables::workspaces::has(*registry.view(), workspace.id));
    for (int i = 0; i < 3; ++i) done(no_operation{});
    for (const auto id : made) EXPECT_FALSE(tables::builds::has(*registry.view(), id));
    EXPECT_TRUE(tables::builds::has(*registry.view(), kept.id));
    EXPECT_FALSE(tables::workspaces::has(*registry.view(), workspace.id));
    tables::timers::each(*registry.view(), [](const tables::timer& each) {
        EXPECT_NE(each.kind, tables::timer_kind::scan_deadline);
        EXPECT_NE(each.kind, tables::timer_kind::workspace_sweep);
        return true;
    });
}

TEST_F(identity, who_sees_a_workspace_is_told_which_right_is_missing_there) {
    const auto group = group_named("g");
    done(schemas::commands::add_group_users{first, group.id, {plain}});
    const role_id creates = role_of({action::create}).id;
    const workspace_id shared = workspace_of({{group.id, creates}}).id;
    schemas::commands::create_model model;
    model.workspace_name = "shared";
    model.model.name = "m";
    const auto blind = registry.run_as(plain, model);
    EXPECT_EQ(code_of(blind), error_code::permission_denied) << "CREATE without READ";
    EXPECT_THAT(blind.message, testing::HasSubstr("permission READ on REGISTERED_MODEL"));
    schemas::commands::set_role other;
    other.org_id = first;
    other.name = "reads endpoints";
    other.actions = {{schemas::protected_type::endpoint, {action::read}}};
    workspace_of({{group.id, registry.must<schemas::role>(other).id}}, shared);
    const auto refused = registry.run_as(plain, model);
    EXPECT_EQ(code_of(refused), error_code::permission_denied);
    EXPECT_THAT(refused.message, testing::HasSubstr("permission CREATE on REGISTERED_MODEL"));
    workspace_of({}, shared);
    EXPECT_EQ(code_of(registry.run_as(plain, model)), error_code::not_found);
}

TEST_F(identity, a_permission_is_added_and_removed_and_the_others_stay) {
    const auto group = group_named("g");
    const role_id role = role_of({action::read}).id;
    const schemas::permission old{all_users, role}, fresh{group.id, role};
    const workspace_id id = workspace_of({old}).id;
    const auto change = [&](schemas::permission which, bool removes) {
        return registry.run(schemas::commands::change_permission{first, id, which, removes});
    };
    const auto now = [&] {
        return storage::registry::access::find_workspace(*registry.view(), id)->permissions;
    };
    EXPECT_EQ(change(fresh, false).code, 0u);
    EXPECT_EQ(change(fresh, false).code, 0u) << "which is there already";
    EXPECT_THAT(now(), testing::ElementsAre(old, fresh));
    EXPECT_EQ(change(old, true).code, 0u);
    EXPECT_THAT(now(), testing::ElementsAre(fresh));
    EXPECT_EQ(code_of(change(old, true)), error_code::not_found);
    EXPECT_EQ(code_of(change({schemas::group_id{99}, role}, false)), error_code::not_found);
    EXPECT_EQ(code_of(registry.run_as(plain, schemas::commands::change_permission{first, id, old, false})),
              error_code::permission_denied);
}

}  // namespace
}  // namespace herald::test
