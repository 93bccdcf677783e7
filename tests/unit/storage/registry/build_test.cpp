// Protects builds: who may make them and where, what an upstream_url may be, and that every change is told.
#include <gmock/gmock.h>

#include "schemas/json.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/find/builds.hpp"
#include "storage/registry/tables/workspaces.hpp"
#include "tests/support/registry.hpp"

namespace herald::test {
namespace {

using namespace storage;
using namespace storage::registry::tables;
using testing::HasSubstr;

class builds_of_versions : public testing::Test {
  protected:
    registry registry;
    schemas::model_version version = registry.version_named("v1", registry.model_named("m").id);

    schemas::commands::create_build command_for(const std::string& workspace) {
        schemas::commands::create_build command;
        command.workspace_name = workspace;
        command.model_version_id = version.id;
        command.external_location = "registry.example.org/m:1";
        command.creator_request.text = R"({"model_version_id":1,"hardware_compatibility":{"a":[1]}})";
        return command;
    }
    schemas::commands::outcome say(schemas::build_id id, const std::string& message) {
        return registry.run(schemas::commands::set_build_message{id, message});
    }
    /// Members of All Users may do this with endpoints in the organisation's workspace, and read models.
    void permit(std::vector<schemas::action> may) {
        auto workspace = *workspaces::find(*registry.view(), schemas::workspace_id{1});
        auto role = *find_row<schemas::role>(*registry.view(), key_of(table::role).number(3));
        role.id.value = 50;
        role.built_in = false;
        role.actions = {{schemas::protected_type::registered_model, {schemas::action::read}},
                        {schemas::protected_type::endpoint, std::move(may)}};
        registry.put(key_of(table::role).number(50), role);
        workspace.permissions = {{schemas::group_id{2}, role.id}};
        registry.put(key_of(table::workspace).number(1), workspace);
    }
};

TEST_F(builds_of_versions, are_told_when_they_are_made_and_changed_with_both_entities) {
    registry.webhook_for({schemas::event_type::create, schemas::event_type::update});
    const auto made = registry.must<schemas::build>(command_for("default"));
    ASSERT_EQ(say(made.id, "copied").code, 0u);
    ASSERT_EQ(say(made.id, "copied").code, 0u) << "which changes nothing";
    const auto events = registry.outbox();
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].type, schemas::event_type::create);
    const auto body = schemas::parse_json(events[1].body);
    ASSERT_TRUE(body);
    EXPECT_EQ(*body->find("resource_type"), schemas::json_value("BUILD"));
    EXPECT_EQ(*body->find("original")->find("message"), schemas::json_value(""));
    EXPECT_EQ(*body->find("updated")->find("message"), schemas::json_value("copied"));
    EXPECT_TRUE(body->find("updated")->find("creator_request")->find("hardware_compatibility"));
}

TEST_F(builds_of_versions, have_times_that_differ) {
    const auto first = registry.must<schemas::build>(command_for("default"));
    const auto second = registry.must<schemas::build>(command_for("default"));
    EXPECT_LT(first.time_created, second.time_created) << "at the same log time";
}

TEST_F(builds_of_versions, have_a_message_that_is_bounded) {
    const auto made = registry.must<schemas::build>(command_for("default"));
    EXPECT_EQ(say(made.id, std::string(limits::comment_bytes_max, 'x')).code, 0u);
    EXPECT_EQ(code_of(say(made.id, std::string(limits::comment_bytes_max + 1, 'x'))),
              error_code::invalid_argument);
    EXPECT_EQ(code_of(say(schemas::build_id{99}, "x")), error_code::not_found);
}

TEST_F(builds_of_versions, need_create_or_deploy_where_they_are_made) {
    const auto user = registry.user_named("b@example.org").id;
    const auto made = registry.must<schemas::build>(command_for("default"));
    const auto codes = [&] {
        return std::vector{
            code_of(registry.run_as(user, command_for("default"))),
            code_of(registry.run_as(user, schemas::commands::set_build_message{made.id, "x"})),
            code_of(registry.run_as(user, schemas::commands::request_version_scan{version.id, {}}))};
    };
    EXPECT_THAT(codes(), testing::Each(error_code::not_found));
    permit({schemas::action::read, schemas::action::update});
    EXPECT_THAT(codes(), testing::Each(error_code::permission_denied));
    permit({schemas::action::create});
    EXPECT_EQ(registry.run_as(user, command_for("default")).code, 0u);
    permit({schemas::action::deploy});
    EXPECT_THAT(codes(), testing::Each(error_code{}));
}

TEST_F(builds_of_versions, of_what_the_caller_may_not_read_cannot_be_made) {
    const auto user = registry.user_named("b@example.org").id;
    const auto refused = registry.run_as(user, command_for("b@example.org"));
    EXPECT_EQ(code_of(refused), error_code::not_found);
    EXPECT_EQ(refused.message, "Couldn't find modelVersion");
    permit({});
    EXPECT_EQ(registry.run_as(user, command_for("b@example.org")).code, 0u)
        << "in another workspace than the model's";
}

TEST_F(builds_of_versions, are_made_in_a_workspace_by_its_id_where_none_has_that_name) {
    EXPECT_EQ(registry.must<schemas::build>(command_for("1")).workspace_id.value, 1u);
    EXPECT_EQ(code_of(registry.run(command_for("99"))), error_code::not_found);
    EXPECT_EQ(code_of(registry.run(command_for(""))), error_code::not_found);
    schemas::commands::create_user named;
    named.email = "one@example.org";
    named.username = "1";
    named.key_hash = admin_key_hash();
    named.user_uuid = some_uuid;
    const auto one = registry.must<schemas::user>(named);
    EXPECT_EQ(code_of(registry.run(command_for("1"))), error_code::not_found) << "it is somebody's now";
    EXPECT_EQ(registry.run(schemas::commands::request_scan{"1", schemas::build_id{1}, {}}).code,
              static_cast<std::uint32_t>(error_code::not_found));
    (void)one;
}

TEST_F(builds_of_versions, have_an_upstream_that_can_be_called_without_giving_anything_away) {
    auto command = command_for("default");
    for (const auto& [bad, why] :
         std::map<std::string, std::string>{{"ftp://example.org", "absolute http or https URL"},
                                            {"https://me:secret@example.org", "user or password"},
                                            {"https://me@example.org/a", "user or password"},
                                            {"https://example.org/#a", "fragment"},
                                            {"https://example.org?a#", "fragment"},
                                            {"https://ex\u00e4mple.org", "not ASCII"},
                                            {"https://example.org:0", "port"}}) {
        command.upstream_url = bad;
        const auto refused = registry.run(command);
        EXPECT_EQ(code_of(refused), error_code::invalid_argument) << bad;
        EXPECT_THAT(refused.message, HasSubstr(why)) << bad;
        EXPECT_THAT(refused.message, testing::Not(HasSubstr("secret")));
    }
    for (const std::string& good :
         {"http://10.0.0.7:8080/predict", "https://example.org/a@b", "http://[::1]:9000"}) {
        command.upstream_url = good;
        EXPECT_EQ(registry.must<schemas::build>(command).upstream_url, good);
    }
}

TEST_F(builds_of_versions, an_unknown_experiment_run_is_not_found_where_the_workspace_is) {
    schemas::commands::create_build command;
    command.workspace_name = "default";
    command.model_version_id = version.id;
    command.external_location = "registry.example.org/m:1";
    command.run_id = "run";
    const auto refused = registry.run(command);
    EXPECT_EQ(code_of(refused), error_code::not_found);
    EXPECT_EQ(refused.message, "experiment run run not found");
    command.model_version_id = {};
    EXPECT_EQ(registry.run(command).message, "experiment run run not found")
        << "who names a run may name no version";
    command.workspace_name = "nowhere";
    EXPECT_THAT(registry.run(command).message, testing::HasSubstr("nowhere"));
}

TEST_F(builds_of_versions, before_the_upload_say_that_the_bytes_are_missing) {
    schemas::commands::update_version command;
    command.id = version.id;
    command.mode = schemas::commands::update_mode::merge;
    command.present = {"model"};
    command.version.model.emplace();
    command.version.model->key = "model";
    ASSERT_EQ(registry.run(command).code, 0u);
    auto asked = command_for("default");
    asked.external_location.clear();
    const auto made = registry.must<schemas::build>(asked);
    EXPECT_EQ(made.status, schemas::build_status::error);
    EXPECT_THAT(made.message, HasSubstr("are not uploaded yet"));
}

}  // namespace
}  // namespace herald::test
