// Protects access: without READ a thing appears not to exist; with READ the missing action is named (wire.md
// §2).
#include <gmock/gmock.h>

#include "storage/registry/access/access.hpp"
#include "storage/registry/find/find.hpp"
#include "tests/support/registry.hpp"
#include "tests/unit/storage/registry/whole_search.hpp"

namespace herald::test {
namespace {

using namespace storage;
using namespace storage::registry::access;
using namespace storage::registry::engine;
using namespace storage::registry::find;
using namespace storage::registry::state;
using namespace storage::registry::tables;

TEST(users, only_a_system_administrator_makes_them) {
    registry registry;
    const auto plain = registry.user_named("b@example.org");
    auto command = registry.user_command("c@example.org");
    EXPECT_EQ(code_of(registry.run_as(plain.id, command)), error_code::permission_denied);
}

TEST(users, have_unique_emails_whatever_the_case) {
    registry registry;
    registry.user_named("b@example.org");
    auto command = registry.user_command("B@Example.org");
    EXPECT_EQ(code_of(registry.run(command)), error_code::already_exists);
    for (const char* bad : {"", "b", "@x", "x@", "a@b@c", "a b@c"}) {
        command.email = bad;
        EXPECT_EQ(code_of(registry.run(command)), error_code::invalid_argument) << bad;
    }
}

TEST(users, are_not_named_as_the_email_of_another) {
    registry registry;
    registry.user_named("b@example.org");
    auto command = registry.user_command("c@example.org");
    for (const std::string& taken :
         {std::string(admin_email), std::string("b@example.org"), std::string("B@Example.org")}) {
        command.username = taken;
        EXPECT_EQ(code_of(registry.run(command)), error_code::already_exists) << taken;
    }
    command.username = "c@example.org";
    EXPECT_EQ(registry.run(command).code, 0u) << "one's own";
}

TEST(users, whose_name_a_workspace_has_are_given_another_username) {
    registry registry;
    schemas::commands::set_workspace taken;
    taken.org_id.value = 1;
    taken.name = "b@example.org";
    ASSERT_EQ(registry.run(taken).code, 0u);
    schemas::commands::create_user command;
    command.email = "b@example.org";
    command.key_hash = admin_key_hash();
    command.user_uuid = some_uuid;
    const auto refused = registry.run(command);
    EXPECT_EQ(code_of(refused), error_code::already_exists);
    EXPECT_THAT(refused.message, testing::HasSubstr("give the user another username (verta_info.username)"));
    command.username = "bob";
    EXPECT_EQ(registry.run(command).code, 0u);
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

TEST(users, cannot_tell_a_workspace_they_may_not_read_from_one_that_is_not) {
    registry registry;
    registry.version_named("v", registry.model_named("m").id);
    const auto plain = registry.user_named("b@example.org");
    const auto view = registry.view();
    const auto told = [&](const std::string& workspace) {
        std::string all = readable_model(*view, plain.id, workspace, "m").error().message;
        schemas::find_request find;
        find.id.emplace().named_id = schemas::named_id{workspace, "m"};
        all += "\n" + whole(search_versions(*view, plain.id, find)).error().message;
        find = {};
        find.workspace_name = workspace;
        all += "\n" + whole(search_versions(*view, plain.id, find)).error().message;
        all += "\n" + whole(search_models(*view, plain.id, find)).error().message;
        schemas::commands::create_version version;
        version.workspace_name = workspace;
        version.model_name = "m";
        version.version.version = "w";
        all += "\n" + registry.run_as(plain.id, version).message;
        schemas::commands::create_model model;
        model.workspace_name = workspace;
        model.model.name = "m";
        all += "\n" + registry.run_as(plain.id, model).message;
        while (all.find(workspace) != std::string::npos)
            all.replace(all.find(workspace), workspace.size(), "W");
        return all;
    };
    EXPECT_EQ(told("default"), told("nosuch"));
}

TEST(users, of_the_group_admins_may_do_everything) {
    registry registry;
    const auto model = registry.model_named("m");
    const auto second = registry.second_admin();
    EXPECT_TRUE(readable_model(*registry.view(), second, model.id));
    schemas::commands::create_version command;
    command.registered_model_id = model.id;
    command.version.version = "v";
    EXPECT_EQ(registry.run_as(second, command).code, 0u);
}

/// A registry whose group All Users has a role with these actions on models in the organisation's workspace.
class users_of_a_role : public testing::Test {
  protected:
    registry registry;
    schemas::model_version version = registry.version_named("v", registry.model_named("m").id);
    schemas::user_id plain = registry.user_named("b@example.org").id;
    std::unique_ptr<engine> reopened;

    void allow(const std::vector<schemas::action>& actions) {
        const auto view = registry.view();
        auto workspace = *find_workspace(*view, schemas::workspace_id{1});
        auto role = *find_row<schemas::role>(*view, key_of(table::role).number(3));
        role.actions = {{schemas::protected_type::registered_model, actions}};
        workspace.permissions = {{schemas::group_id{2}, role.id}};
        row_changes changes;
        changes[key_of(table::role).number(3)] = schemas::encode(role);
        changes[key_of(table::workspace).number(1)] = schemas::encode(workspace);
        ASSERT_TRUE(registry.store->write(changes));
        reopened = std::make_unique<engine>(*registry.store);
    }
    template <class Command>
    schemas::commands::outcome run(const Command& command) {
        return reopened->apply(registry.record_of(registry.envelope_of(plain, command)))->outcome;
    }
    schemas::commands::outcome create(const std::string& name,
                                      schemas::lock_level level = schemas::lock_level::open) {
        schemas::commands::create_version command;
        command.registered_model_id = version.registered_model_id;
        command.version.version = name;
        command.lock_level = level;
        return run(command);
    }
    schemas::commands::outcome update(schemas::version_id id, const std::string& member) {
        schemas::commands::update_version command;
        command.id = id;
        command.present = {member};
        command.version.description = "changed";
        command.version.labels = {"changed"};
        command.version.attributes = {{"changed", {"1"}, {}}};
        return run(command);
    }
};

TEST_F(users_of_a_role, with_read_are_told_which_permission_is_missing) {
    allow({schemas::action::read});
    EXPECT_TRUE(readable_version(*registry.store->view(), plain, version.id));
    const auto created = create("w");
    EXPECT_EQ(code_of(created), error_code::permission_denied);
    EXPECT_THAT(created.message, testing::HasSubstr("CREATE"));
    const auto updated = update(version.id, "description");
    EXPECT_EQ(code_of(updated), error_code::permission_denied);
    EXPECT_THAT(updated.message, testing::HasSubstr("UPDATE"));
}

TEST_F(users_of_a_role, with_update_change_versions_and_create_none) {
    allow({schemas::action::read, schemas::action::update});
    EXPECT_EQ(update(version.id, "description").code, 0u);
    EXPECT_EQ(update(version.id, "attributes").code, 0u);
    EXPECT_EQ(code_of(create("w")), error_code::permission_denied);
}

TEST_F(users_of_a_role, without_read_find_nothing_whatever_else_they_may) {
    allow({schemas::action::update, schemas::action::create});
    EXPECT_EQ(code_of(update(version.id, "description")), error_code::not_found);
    EXPECT_EQ(code_of(create("w")), error_code::not_found);
}

TEST_F(users_of_a_role, change_of_a_redacted_version_only_what_it_is_not_made_of) {
    allow({schemas::action::read, schemas::action::update, schemas::action::create});
    const auto made = create("w", schemas::lock_level::redact);
    ASSERT_EQ(made.code, 0u) << made.message;
    const auto id = schemas::decode<schemas::model_version>(made.body)->id;
    EXPECT_EQ(update(id, "description").code, 0u);
    EXPECT_EQ(update(id, "labels").code, 0u);
    EXPECT_EQ(code_of(update(id, "attributes")), error_code::permission_denied);
}

TEST(users, are_added_to_groups_by_their_administrators) {
    registry registry;
    const auto plain = registry.user_named("b@example.org");
    schemas::commands::add_group_users add;
    add.org_id.value = 1;
    add.group_id.value = 1;
    add.user_id = {plain.id};
    EXPECT_EQ(code_of(registry.run_as(plain.id, add)), error_code::permission_denied);
    add.user_id = {schemas::user_id{99}};
    EXPECT_EQ(code_of(registry.run(add)), error_code::not_found);
    add.group_id.value = 9;
    EXPECT_EQ(code_of(registry.run(add)), error_code::not_found);
}

TEST(users, have_an_email_that_headers_and_basic_carry) {
    registry registry;
    for (const char* email : {"j\xC3\xB6s\xC3\xA9@example.org", "\xE7\x94\xA8\xE6\x88\xB7@example.org",
                              "x:y@example.org", "x@example.org:1"}) {
        const auto refused = registry.run(registry.user_command(email));
        EXPECT_EQ(code_of(refused), error_code::invalid_argument) << email;
        EXPECT_THAT(refused.message, testing::HasSubstr("visible ASCII without a colon")) << email;
    }
    EXPECT_EQ(registry
                  .run(registry.user_command("a\xE2\x80\x8B"
                                             "b@example.org"))
                  .code,
              3u);
    EXPECT_EQ(registry.run(registry.user_command("x+y.z'@example.org")).code, 0u);
}

}  // namespace
}  // namespace herald::test
