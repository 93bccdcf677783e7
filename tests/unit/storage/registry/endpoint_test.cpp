// Protects endpoints: a path belongs to one endpoint in the installation, who may make and end them, and that
// nothing of an ended one is left.
#include <gmock/gmock.h>

#include "runtime/random.hpp"
#include "schemas/audit.hpp"
#include "schemas/json.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/find/endpoints.hpp"
#include "storage/registry/rules/endpoints.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/tables/audit.hpp"
#include "storage/registry/tables/stage_log.hpp"
#include "tests/unit/storage/registry/endpoint_rules.hpp"

namespace herald::test {
namespace {

using namespace storage::registry;
using schemas::action;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(endpoint_paths, begin_with_one_slash_and_hold_segments_that_stand_for_themselves) {
    for (const auto& [sent, path] : std::initializer_list<std::pair<std::string, std::string>>{
             {"x", "/x"}, {"/x", "/x"}, {"//x", "/x"}, {"a/b_c/D.e~f-9", "/a/b_c/D.e~f-9"}, {"...", "/..."}})
        EXPECT_EQ(*rules::normalised_path(sent), path) << sent;
    for (const std::string sent :
         {"", "/", "a//b", "a/", ".", "a/..", "a/./b", "a b", "a%20b", "a?b", "ä", "a\nb", "\xff"}) {
        const auto refused = rules::normalised_path(sent);
        ASSERT_FALSE(refused) << sent;
        EXPECT_EQ(refused.error().code, error_code::invalid_argument);
        EXPECT_THAT(refused.error().message, HasSubstr("path is")) << sent;
    }
    const std::string longest(limits::endpoint_path_bytes_max - 1, 'x');
    EXPECT_TRUE(rules::normalised_path(longest));
    EXPECT_FALSE(rules::normalised_path(longest + "x"));
}

TEST_F(endpoint_rules,
       a_path_is_of_one_endpoint_in_whatever_workspace_and_so_is_its_name_in_the_v2_protocol) {
    const auto made = endpoint_at("a/b");
    EXPECT_EQ(made.path, "/a/b");
    EXPECT_EQ(made.owner_id, registry.admin);
    for (const char* same : {"/a/b", "a/b", "a.b", "/a.b"}) {
        const auto refused = registry.run(new_endpoint(same));
        EXPECT_EQ(code_of(refused), error_code::already_exists) << same;
        EXPECT_THAT(refused.message, HasSubstr("already in use")) << same;
    }
    const auto user = registry.user_named("b@example.org");
    auto elsewhere = new_endpoint("a/b");
    elsewhere.workspace_name = user.username;
    EXPECT_EQ(code_of(registry.run_as(user.id, elsewhere)), error_code::already_exists);
    EXPECT_EQ(registry.run(new_endpoint("a/bc")).code, 0u);
    EXPECT_EQ(registry.run(remove(made)).code, 0u);
    EXPECT_EQ(registry.run(new_endpoint("a.b")).code, 0u) << "the path of a deleted one is free";
}

TEST_F(endpoint_rules, the_workspace_in_the_path_is_its_name_or_its_id) {
    auto command = new_endpoint("x");
    command.workspace_name = "1";
    EXPECT_EQ(registry.must<schemas::endpoint>(command).workspace_id.value, 1u);
    command = new_endpoint("y");
    command.workspace_name = "99";
    EXPECT_EQ(code_of(registry.run(command)), error_code::not_found);
}

TEST_F(endpoint_rules, need_the_right_for_what_is_done_and_are_not_there_for_who_may_not_read) {
    const auto made = endpoint_at("x");
    const auto stage = stage_of(made, "production");
    const schemas::user_id user = registry.user_named("b@example.org").id;
    const auto codes = [&] {
        auto token = new_token(made, stage, "value " + std::to_string(registry.offset));
        return std::vector{
            code_of(registry.run_as(user, new_endpoint("p" + std::to_string(registry.offset)))),
            code_of(registry.run_as(user, new_stage(made, std::to_string(registry.offset)))),
            code_of(registry.run_as(user, token))};
    };
    constexpr auto fine = error_code{};
    constexpr auto hidden = error_code::not_found, denied = error_code::permission_denied;
    EXPECT_THAT(codes(), ElementsAre(hidden, hidden, hidden));
    permit({action::read});
    EXPECT_THAT(codes(), ElementsAre(denied, denied, denied));
    EXPECT_EQ(code_of(registry.run_as(user, remove(made))), denied);
    permit({action::read, action::create});
    EXPECT_THAT(codes(), ElementsAre(fine, denied, denied));
    permit({action::read, action::update});
    EXPECT_THAT(codes(), ElementsAre(denied, fine, fine));
    permit({action::read, action::deploy});
    EXPECT_THAT(codes(), ElementsAre(denied, fine, fine));
    permit({action::update, action::deploy, action::delete_});
    EXPECT_EQ(code_of(registry.run_as(user, remove(made))), hidden) << "without READ";
    permit({action::read, action::delete_});
    EXPECT_EQ(code_of(registry.run_as(user, remove(made))), fine);
}

TEST_F(endpoint_rules, what_is_sent_is_bounded_and_an_object) {
    auto command = new_endpoint("x");
    command.creator_request.text = "[]";
    EXPECT_EQ(code_of(registry.run(command)), error_code::invalid_argument);
    const auto described = [](std::size_t bytes) {
        return R"({"description":")" + std::string(bytes, 'x') + "\"}";
    };
    command.creator_request.text = described(limits::description_bytes_max + 1);
    EXPECT_THAT(registry.run(command).message, HasSubstr("description is 65537 bytes long"));
    command.creator_request.text = described(limits::description_bytes_max);
    EXPECT_EQ(registry.run(command).code, 0u);
    command = new_endpoint("z");
    command.creator_request.text = "{" + std::string(limits::endpoint_request_bytes_max, ' ') + "}";
    EXPECT_THAT(registry.run(command).message, HasSubstr("the request is"));
    const auto made = endpoint_at("w");
    command = new_endpoint("y");
    command.id = made.id;
    EXPECT_EQ(code_of(registry.run(command)), error_code::already_exists) << "its id is another's";
    auto stage = new_stage(made, "");
    EXPECT_EQ(code_of(registry.run(stage)), error_code::invalid_argument);
    stage = new_stage(made, "s");
    stage.token.hash = "short";
    EXPECT_EQ(code_of(registry.run(stage)), error_code::invalid_argument);
    stage.autocreate_token = false;
    EXPECT_EQ(registry.run(stage).code, 0u) << "then nobody looks at it";
}

TEST_F(endpoint_rules, have_sixteen_stages_with_names_of_their_own) {
    const auto made = endpoint_at("x");
    for (int i = 0; i < 16; ++i) stage_of(made, "stage " + std::to_string(i));
    EXPECT_EQ(code_of(registry.run(new_stage(made, "stage 3"))), error_code::already_exists);
    EXPECT_EQ(code_of(registry.run(new_stage(made, "one more"))), error_code::failed_precondition);
    EXPECT_EQ(find::stages_of(*registry.view(), made.id).size(), 16u);
    stage_of(endpoint_at("y"), "stage 3");
}

TEST_F(endpoint_rules, a_stage_begins_inactive_with_a_default_token_unless_none_is_wanted) {
    const auto made = endpoint_at("x");
    const auto stage = stage_of(made, "production");
    EXPECT_EQ(stage.status, schemas::endpoint_stage_status::inactive);
    EXPECT_TRUE(stage.components.empty());
    const auto tokens = find::tokens_of(*registry.view(), stage.id, 0);
    ASSERT_EQ(tokens.size(), 1u);
    EXPECT_TRUE(tokens[0].is_default);
    auto bare = new_stage(made, "bare");
    bare.autocreate_token = false;
    const auto without = registry.must<schemas::endpoint_stage>(bare);
    EXPECT_TRUE(find::tokens_of(*registry.view(), without.id, 0).empty());
    EXPECT_EQ(find::log_of_stage(*registry.view(), stage.id).size(), 1u);
}

TEST_F(endpoint_rules, nothing_of_a_deleted_one_is_left_however_much_it_had) {
    const auto before = rows_of_endpoints();
    const auto made = endpoint_at("x");
    const auto kept = endpoint_at("kept");
    const auto kept_stage = stage_of(kept, "production");
    const auto kept_rows = rows_of_endpoints();
    for (int s = 0; s < 16; ++s) {
        const auto stage = stage_of(made, "stage " + std::to_string(s));
        for (int t = 1; t < 100; ++t) {
            auto token = new_token(made, stage, "value " + std::to_string(t));
            if (t % 2 == 0) token.expires_ms = registry.now_ms + 86'400'000;
            ASSERT_EQ(registry.run(token).code, 0u);
        }
    }
    ASSERT_EQ(registry.run(remove(made)).code, 0u);
    EXPECT_FALSE(tables::endpoints::at_path(*registry.view(), "/x")) << "at once";
    EXPECT_TRUE(find::stages_of(*registry.view(), made.id).empty());
    for (int i = 0; i < 40; ++i) registry.run(schemas::commands::no_operation{});
    EXPECT_EQ(rows_of_endpoints().size(), kept_rows.size() - 4) << "the rows of an endpoint without stages";
    EXPECT_EQ(find::tokens_of(*registry.view(), kept_stage.id, 0).size(), 1u);
    ASSERT_EQ(registry.run(remove(kept)).code, 0u);
    for (int i = 0; i < 4; ++i) registry.run(schemas::commands::no_operation{});
    EXPECT_EQ(rows_of_endpoints(), before);
}

TEST_F(endpoint_rules, a_long_log_is_swept_by_several_firings) {
    const auto made = endpoint_at("x");
    const auto stage = stage_of(made, "production");
    const auto view = registry.view();
    storage::registry::state::state_changes more(view.get());
    for (int i = 0; i < 1'100; ++i) tables::stage_log::add(more, stage.id, i, "step " + std::to_string(i));
    EXPECT_EQ(find::log_of_stage(more, stage.id).size(), limits::stage_log_entries_max);
    EXPECT_EQ(find::log_of_stage(more, stage.id).back().message, "step 1099");
    EXPECT_EQ(find::log_of_stage(more, stage.id).back().number, 1'101u);
    std::size_t erased = 0, firings = 0;
    for (std::size_t now = 1; now > 0; erased += now, ++firings)
        now = tables::stage_log::erase_oldest(more, stage.id, limits::stage_log_swept_per_firing);
    EXPECT_EQ(erased, limits::stage_log_entries_max);
    EXPECT_EQ(firings, 5u);
    tables::stage_log::add(more, stage.id, 1,
                           std::string(limits::stage_log_message_bytes_max - 1, 'x') + "ä");
    EXPECT_EQ(find::log_of_stage(more, stage.id).back().message.size(),
              limits::stage_log_message_bytes_max - 1)
        << "whole characters";
}

TEST_F(endpoint_rules, are_told_when_they_are_made_changed_and_deleted) {
    registry.webhook_for(
        {schemas::event_type::create, schemas::event_type::update, schemas::event_type::delete_});
    const auto made = endpoint_at("x");
    stage_of(made, "production");
    ASSERT_EQ(registry.run(remove(made)).code, 0u);
    auto events = registry.outbox();
    std::ranges::sort(events, {}, &schemas::event::offset);
    ASSERT_EQ(events.size(), 3u);
    for (const schemas::event& each : events) {
        EXPECT_EQ(each.resource_type, schemas::resource_type::endpoint);
        EXPECT_EQ(each.resource_id, runtime::uuid_text(made.id));
    }
    const auto body = schemas::parse_json(events[1].body);
    ASSERT_TRUE(body);
    EXPECT_EQ(*body->find("updated")->find("path"), schemas::json_value("/x"));
    EXPECT_NE(*body->find("updated")->find("date_updated"), *body->find("original")->find("date_updated"));
}

TEST_F(endpoint_rules, a_workspace_that_holds_one_cannot_be_deleted_and_a_user_s_outlive_him) {
    schemas::commands::set_workspace workspace;
    workspace.org_id.value = 1;
    workspace.name = "shared";
    const auto shared = registry.must<schemas::workspace>(workspace);
    auto command = new_endpoint("x");
    command.workspace_name = "shared";
    const auto made = registry.must<schemas::endpoint>(command);
    schemas::commands::delete_workspace gone;
    gone.org_id = shared.org_id;
    gone.id = shared.id;
    const auto refused = registry.run(gone);
    EXPECT_EQ(code_of(refused), error_code::failed_precondition);
    EXPECT_THAT(refused.message, HasSubstr("holds endpoints; delete"));
    auto removal = remove(made);
    removal.workspace_name = "shared";
    EXPECT_EQ(registry.run(removal).code, 0u);
    EXPECT_EQ(registry.run(gone).code, 0u);

    const auto user = registry.user_named("b@example.org");
    auto own = new_endpoint("own");
    own.workspace_name = user.username;
    const auto his = registry.must<schemas::endpoint>(user.id, own);
    schemas::commands::remove_user leave;
    leave.user_id = user.id;
    ASSERT_EQ(registry.run(leave).code, 0u);
    EXPECT_TRUE(tables::endpoints::has(*registry.view(), his.id));
}

TEST_F(endpoint_rules, the_audit_names_the_endpoint_and_which_part_of_it) {
    const auto made = endpoint_at("x");
    const auto stage = stage_of(made, "production");
    const auto token = registry.must<schemas::access_token>(new_token(made, stage, "v"));
    const auto newest = [&] {
        std::optional<schemas::audit_row> row;
        const auto view = registry.view();
        tables::audit_rows::each(*view, tables::audit_rows::head(*view).last, [&](const auto& each) {
            row = each;
            return true;
        });
        return *row;
    };
    ASSERT_EQ(registry.run(revoke(made, stage, token.id)).code, 0u);
    auto row = newest();
    EXPECT_EQ(row.action, "delete_access_token stage_id=1,token_id=2");
    EXPECT_EQ(row.resource_type, "ENDPOINT");
    EXPECT_EQ(row.resource_id, runtime::uuid_text(made.id));
    EXPECT_EQ(row.workspace_id.value, 1u);
    ASSERT_EQ(registry.run(remove(made)).code, 0u);
    row = newest();
    EXPECT_EQ(row.action, "delete_endpoint");
    EXPECT_EQ(row.resource_id, runtime::uuid_text(made.id));
    EXPECT_EQ(row.workspace_id.value, 1u);
    const auto refused = new_endpoint("no path");
    ASSERT_NE(registry.run(refused).code, 0u);
    EXPECT_EQ(newest().resource_id, runtime::uuid_text(refused.id));
}

}  // namespace
}  // namespace herald::test
