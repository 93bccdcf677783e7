// Property: without READ a thing is not there; with READ the missing action is named (wire.md §2).
#include <gmock/gmock.h>

#include "registry.hpp"
#include "storage/access.hpp"

namespace herald::storage {
namespace {

TEST(users, only_a_system_administrator_makes_them) {
    registry registry;
    const auto plain = registry.user_named("b@example.org");
    schemas::create_user command;
    command.email = "c@example.org";
    command.key_hash = registry::key_of_admin;
    EXPECT_EQ(code_of(registry.run_as(plain.id, command)), error_code::permission_denied);
}

TEST(users, have_unique_emails_whatever_the_case) {
    registry registry;
    registry.user_named("b@example.org");
    schemas::create_user command;
    command.email = "B@Example.org";
    command.key_hash = registry::key_of_admin;
    EXPECT_EQ(code_of(registry.run(command)), error_code::already_exists);
    for (const char* bad : {"", "b", "@x", "x@", "a@b@c", "a b@c"}) {
        command.email = bad;
        EXPECT_EQ(code_of(registry.run(command)), error_code::invalid_argument) << bad;
    }
}

TEST(users, have_a_workspace_of_their_own_and_see_no_other) {
    registry registry;
    const auto model = registry.model_named("m");
    const auto plain = registry.user_named("b@example.org");
    const auto view = registry.view();
    const auto own = find_workspace(*view, plain.default_workspace_id);
    EXPECT_EQ(own->name, "b@example.org");
    EXPECT_TRUE(is_workspace_admin(*view, plain.id, *own));
    EXPECT_FALSE(is_visible(*view, plain.id, *find_workspace(*view, schemas::workspace_id{1})));
    EXPECT_EQ(readable_model(*view, plain.id, model.id).error().code, error_code::not_found);
    EXPECT_FALSE(is_visible(*view, registry.admin, *own))
        << "an administrator does not see personal workspaces";
}

TEST(users, of_the_group_admins_may_do_everything) {
    registry registry;
    const auto model = registry.model_named("m");
    const auto second = registry.second_admin();
    EXPECT_TRUE(readable_model(*registry.view(), second, model.id));
    schemas::create_version command;
    command.registered_model_id = model.id;
    command.version.version = "v";
    EXPECT_EQ(registry.run_as(second, command).code, 0u);
}

TEST(users, with_read_only_are_told_which_permission_is_missing) {
    registry registry;
    const auto model = registry.model_named("m");
    const auto plain = registry.user_named("b@example.org");
    auto workspace = *find_workspace(*registry.view(), schemas::workspace_id{1});
    workspace.permissions.push_back({schemas::group_id{2}, schemas::role_id{3}});  // All Users, Read Only
    row_changes changes;
    changes[key_of(table::workspace).number(1)] = schemas::encode(workspace);
    ASSERT_TRUE(registry.store->write(changes));
    engine reopened(*registry.store);
    schemas::create_version command;
    command.registered_model_id = model.id;
    command.version.version = "v";
    const auto applied = reopened.apply(registry.record_of(registry.envelope_of(plain.id, command)));
    EXPECT_EQ(code_of(applied->outcome), error_code::permission_denied);
    EXPECT_THAT(applied->outcome.message, testing::HasSubstr("CREATE"));
}

TEST(users, are_added_to_groups_by_their_administrators) {
    registry registry;
    const auto plain = registry.user_named("b@example.org");
    schemas::add_group_users add;
    add.org_id.value = 1;
    add.group_id.value = 1;
    add.user_id = {plain.id};
    EXPECT_EQ(code_of(registry.run_as(plain.id, add)), error_code::permission_denied);
    add.user_id = {schemas::user_id{99}};
    EXPECT_EQ(code_of(registry.run(add)), error_code::not_found);
    add.group_id.value = 9;
    EXPECT_EQ(code_of(registry.run(add)), error_code::not_found);
}

}  // namespace
}  // namespace herald::storage
