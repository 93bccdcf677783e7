// Protects the calls for models, versions and stages: they do what wire.md §3 says, and refusals name what is
// wrong.
#include "tests/unit/api/handlers.hpp"

namespace herald::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(handlers, a_model_that_was_created_is_read_by_id_and_by_name_and_found) {
    const reply made = node.post(models, R"({"name":"m","description":"d","labels":["a","b"]})");
    ASSERT_EQ(made.status(), 200) << made.body();
    EXPECT_THAT(made.header("svc-registry-offset"), HasSubstr("1-"));
    EXPECT_EQ(made.at("registered_model.labels"), R"(["a","b"])");
    const std::string id = made.at("registered_model.id");
    EXPECT_EQ(node.get(registry_path + "/registered_models/" + id).body(), made.body());
    EXPECT_EQ(node.get(std::string(models) + "/m").body(), made.body());
    const reply found = node.post(registry_path + "/registered_models/find", "{}");
    EXPECT_EQ(found.at("total_records"), "1");
    EXPECT_EQ(found.at("registered_models.0"), made.at("registered_model"));
}

TEST_F(handlers, a_second_model_of_the_name_is_409_and_one_without_a_name_is_400) {
    node.model("m");
    expect_refused(node.post(models, R"({"name":"m"})"), 409, error_code::already_exists, "\"m\"");
    expect_refused(node.post(models, "{}"), 400, error_code::invalid_argument, "name");
    expect_refused(node.post(models, R"({"name":7})"), 400, error_code::invalid_argument, "name is 7");
}

TEST_F(handlers, a_patch_changes_what_it_names_and_leaves_the_rest) {
    const std::string model = node.model("m");
    const std::string versions = versions_of(model);
    const reply made = node.post(versions, R"({"version":"v","description":"old","labels":["kept"]})");
    ASSERT_EQ(made.status(), 200) << made.body();
    const std::string path = versions + "/" + made.at("model_version.id");
    const reply patched = node.ask(&node.administrator, "PATCH", path, R"({"description":"new"})");
    EXPECT_EQ(patched.at("model_version.description"), "new") << patched.body();
    EXPECT_EQ(patched.at("model_version.labels"), R"(["kept"])");
    EXPECT_EQ(node.get(path).body(), patched.body());
    EXPECT_EQ(node.post(versions + "/find", "{}").at("model_versions.0"), patched.at("model_version"));
}

TEST_F(handlers, a_version_is_changed_by_names_as_by_ids) {
    const std::string model = node.model("m");
    const std::string id = node.version(model, "v");
    const std::string path = std::string(models) + "/m/model_versions/";
    const reply patched =
        node.ask(&node.administrator, "PATCH", path + "v", R"({"description":"d","labels":["l"]})");
    EXPECT_EQ(patched.at("model_version.id"), id) << patched.body();
    const reply put = node.ask(&node.administrator, "PUT", path + id, R"({"description":"new"})",
                               "Prefer: handling=strict\r\n");
    EXPECT_EQ(put.at("model_version.description"), "new") << put.body();
    EXPECT_EQ(put.at("model_version.labels"), "[]");
    EXPECT_EQ(put.at("model_version.version"), "v");
    const std::string shadow = node.version(model, id);
    expect_refused(node.ask(&node.administrator, "PATCH", path + id, "{}"), 400,
                   error_code::failed_precondition, shadow);
}

TEST_F(handlers, the_last_part_of_the_long_form_is_the_versions_id_before_its_name) {
    const std::string model = node.model("m");
    const std::string first = node.version(model, "first");
    const std::string shadow = node.version(model, first);
    const std::string path = std::string(models) + "/m/model_versions/";
    EXPECT_EQ(node.get(path + first).at("model_version.version"), "first");
    EXPECT_EQ(node.get(path + shadow).at("model_version.version"), first);
    EXPECT_EQ(node.get(path + "first").at("model_version.id"), first);
    const std::string of_another = node.version(node.model("n"), "v");
    expect_refused(node.get(path + of_another), 404, error_code::not_found, of_another);
}

TEST_F(handlers, archived_is_a_ternary_that_takes_json_flags_too) {
    const std::string model = node.model("m");
    const std::string path = versions_of(model) + "/" + node.version(model, "v");
    for (const std::string_view yes : {"1", "\"TRUE\"", "true"}) {
        const auto set = [&](std::string_view value) {
            return node.ask(&node.administrator, "PATCH", path, R"({"archived":)" + std::string(value) + "}");
        };
        EXPECT_EQ(set(yes).at("model_version.archived"), "TRUE") << yes;
        EXPECT_EQ(set("2").at("model_version.archived"), "FALSE");
    }
}

TEST_F(handlers, external_deployments_are_not_kept_and_said_to_be_unknown) {
    const std::string model = node.model("m");
    const std::string path = versions_of(model) + "/" + node.version(model, "v");
    const reply patched =
        node.ask(&node.administrator, "PATCH", path, R"({"external_deployments":[{"a":1}]})");
    EXPECT_EQ(patched.status(), 200);
    EXPECT_THAT(patched.header("svc-warning"), HasSubstr("external_deployments is unknown"));
    EXPECT_THAT(patched.body(), Not(HasSubstr("external_deployments")));
}

TEST_F(handlers, an_attributes_type_comes_as_a_name_or_a_number_and_goes_out_as_a_name) {
    const std::string model = node.model("m");
    const std::string path = versions_of(model) + "/" + node.version(model, "v");
    const auto type_after = [&](const std::string& type) {
        return node
            .ask(&node.administrator, "PATCH", path,
                 R"({"attributes":[{"key":"k","value":1,"value_type":)" + type + "}]}")
            .at("model_version.attributes.0.value_type");
    };
    EXPECT_EQ(type_after("1"), "NUMBER");
    EXPECT_EQ(type_after("\"BLOB\""), "BLOB");
    EXPECT_EQ(type_after("0"), "") << "which says nothing about the value";
    expect_refused(
        node.ask(&node.administrator, "PATCH", path, R"({"attributes":[{"key":"k","value_type":99}]})"), 400,
        error_code::invalid_argument, "attributes[0].value_type is 99; it must be one of STRING NUMBER");
}

TEST_F(handlers, a_promotion_to_production_needs_another_person_and_is_then_under_way) {
    const caller second = node.second_administrator();
    const std::string version = node.version(node.model("m"), "v");
    ASSERT_EQ(node.post(proxy + "/events/createWebhook", hook()).status(), 200);
    const std::string stage = registry_path + "/stage/";
    const reply asked = node.post(stage + "createTransition", R"({"model_version_id":")" + version +
                                                                  R"(","desired_stage":"PRODUCTION"})");
    ASSERT_EQ(asked.status(), 200) << asked.body();
    const std::string transition = R"({"transition_id":")" + asked.at("activity.id") + R"("})";
    expect_refused(node.post(stage + "commitTransition", transition), 400, error_code::failed_precondition,
                   "approv");
    expect_refused(node.post(stage + "approveTransition", transition), 403, error_code::permission_denied,
                   "somebody else must approve");
    EXPECT_EQ(node.ask(&second, "POST", stage + "approveTransition", transition).status(), 200);
    EXPECT_EQ(node.post(stage + "commitTransition", transition).status(), 200);
    EXPECT_EQ(node.get(registry_path + "/model_versions/" + version).at("model_version.stage"), "PRODUCTION");
    const reply promotion = node.get(registry_path + "/model_versions/" + version + "/promotion");
    EXPECT_EQ(promotion.at("deliveries"), R"({"pending":1,"succeeded":0,"dead":0,"unknown":0})")
        << promotion.body();
    EXPECT_NE(promotion.at("event_id"), "");
    const std::string all = registry_path + "/workspaces/Default/promotions";
    const reply listed = node.get(all + "?status=IN_PROGRESS");
    EXPECT_EQ(listed.at("promotions.0.model_version_id"), version) << listed.body();
    EXPECT_EQ(listed.at("promotions.0.model_name") + listed.at("promotions.0.version"), "mv");
    EXPECT_EQ(listed.at("promotions.0.deliveries.pending"), "1");
    EXPECT_EQ(node.get(all + "?status=COMPLETE").at("promotions"), "[]");
    expect_refused(node.get(all + "?status=DONE"), 400, error_code::invalid_argument, "one of");
    const caller stranger = node.user("s@example.org");
    EXPECT_EQ(node.ask(&stranger, "GET", all).status(), 404);
}

TEST_F(handlers, what_a_stage_needs_is_said_before_and_after_it_is_asked_for) {
    const std::string version = node.version(node.model("m"), "v");
    const std::string path = registry_path + "/model_versions/" + version + "/readiness?stage=";
    EXPECT_EQ(node.get(path + "STAGING").at("approvals_required"), "0");
    const reply alone = node.get(path + "PRODUCTION");
    EXPECT_EQ(alone.at("approvals_required"), "1") << alone.body();
    EXPECT_EQ(alone.at("reviewers"), "[]") << "nobody approves what they asked for";
    EXPECT_EQ(alone.at("needs_safe_scan"), "false");
    const caller second = node.second_administrator();
    const reply two = node.get(path + "PRODUCTION");
    const std::string reviewer = two.at("reviewers.0");
    EXPECT_NE(reviewer, "") << two.body();
    EXPECT_EQ(node.ask(&second, "GET", path + "PRODUCTION").at("reviewers.0"), "1");
    const std::string stage = registry_path + "/stage/";
    const reply asked = node.post(stage + "createTransition", R"({"model_version_id":")" + version +
                                                                  R"(","desired_stage":"PRODUCTION"})");
    EXPECT_EQ(node.ask(&second, "GET", path + "PRODUCTION").at("reviewers.0"), reviewer)
        << "now it is clear who asked for it";
    EXPECT_EQ(node.get(path + "PRODUCTION").at("approved_by"), "[]");
    EXPECT_EQ(node.ask(&second, "POST", stage + "approveTransition",
                       R"({"transition_id":")" + asked.at("activity.id") + R"("})")
                  .status(),
              200);
    EXPECT_EQ(node.get(path + "PRODUCTION").at("approved_by.0"), reviewer);
    expect_refused(node.get(path + "LIVE"), 400, error_code::invalid_argument, "one of");
}

TEST_F(handlers, an_activity_holds_exactly_one_of_its_members) {
    const std::string version = node.version(node.model("m"), "v");
    const auto acted = [&](const std::string& what, const std::string& body) {
        const reply got = node.post(registry_path + "/stage/" + what + "Transition", body);
        EXPECT_EQ(got.status(), 200) << got.body();
        int members = 0;
        for (const char* each : {"transition", "approval", "rejection", "close", "update"})
            members += got.at("activity." + std::string(each)) != "";
        EXPECT_EQ(members, 1) << got.body();
        return got;
    };
    const auto ask = [&] {
        return R"({"transition_id":")" +
               acted("create", R"({"model_version_id":")" + version + R"(","desired_stage":"STAGING"})")
                   .at("activity.id") +
               R"("})";
    };
    EXPECT_EQ(acted("commit", ask()).at("activity.update"), R"({"stage":"STAGING"})");
    EXPECT_EQ(acted("close", ask()).at("activity.close"), "{}");
}

TEST_F(handlers, who_may_not_read_a_model_is_told_that_there_is_none) {
    const std::string id = node.model("m");
    const caller stranger = node.user("stranger@example.org");
    expect_refused(node.ask(&stranger, "GET", registry_path + "/registered_models/" + id), 404,
                   error_code::not_found, id);
    EXPECT_EQ(
        node.ask(&stranger, "POST", registry_path + "/registered_models/find", "{}").at("total_records"),
        "0");
}

}  // namespace
}  // namespace herald::test
