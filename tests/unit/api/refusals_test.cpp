// Protects what callers are told who are refused: the status, the code, and what would be right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "runtime/metrics.hpp"
#include "tests/unit/api/node_without_sockets.hpp"

namespace herald::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view models = "/api/v1/registry/workspaces/Default/registered_models";
const std::string registry_path = "/api/v1/registry";
const std::string events = "/api/v1/uac-proxy/events";

struct refusals : ::testing::Test {
    static void expect_refused(const reply& got, int status, error_code code,
                               const ::testing::Matcher<const std::string&>& text) {
        EXPECT_EQ(got.status(), status) << got.body();
        EXPECT_EQ(got.at("code"), std::to_string(static_cast<int>(code)));
        EXPECT_THAT(got.at("message"), text);
    }
    static void expect_bad(const reply& got, const ::testing::Matcher<const std::string&>& text) {
        expect_refused(got, 400, error_code::invalid_argument, text);
    }
    reply put(const std::string& path, const std::string& body) {
        return node.ask(&node.administrator, "PUT", path, body);
    }
    reply of_stage(const caller& who, const std::string& call, const std::string& body) {
        return node.ask(&who, "POST", registry_path + "/stage/" + call + "Transition", body);
    }
    std::string asked_for(const std::string& version, const std::string& stage) {
        const reply got =
            of_stage(node.administrator, "create",
                     R"({"model_version_id":")" + version + R"(","desired_stage":")" + stage + R"("})");
        EXPECT_EQ(got.status(), 200) << got.body();
        return got.at("activity.id");
    }
    void commit(const std::string& transition) {
        const reply got =
            of_stage(node.administrator, "commit", R"({"transition_id":")" + transition + R"("})");
        EXPECT_EQ(got.status(), 200) << got.body();
    }
    void promote(const caller& reviewer, const std::string& version) {
        const std::string transition = asked_for(version, "PRODUCTION");
        of_stage(reviewer, "approve", R"({"transition_id":")" + transition + R"("})");
        commit(transition);
    }

    node_without_sockets node;
};

TEST_F(refusals, a_completion_that_was_read_before_the_commit_is_409) {
    const caller reviewer = node.second_administrator();
    const std::string model = node.model("m"), version = node.version(model, "v");
    const std::string shown = registry_path + "/model_versions/" + version;
    const std::string path = registry_path + "/registered_models/" + model + "/model_versions/" + version;
    const auto completion = [&](const std::string& time_updated) {
        return R"({"redirect_metadata":"https://example.org/v","time_updated":")" + time_updated + R"("})";
    };
    promote(reviewer, version);
    const std::string first = node.get(shown).at("model_version.time_updated");
    commit(asked_for(version, "STAGING"));
    EXPECT_EQ(node.get(shown + "/promotion").at("status"), "FAILED");
    EXPECT_THAT(node.get(shown + "/promotion").at("reason"), HasSubstr("from PRODUCTION to STAGING"));
    expect_refused(put(path, completion(first)), 400, error_code::failed_precondition,
                   HasSubstr("it is FAILED"));
    promote(reviewer, version);
    expect_refused(put(path, completion(first)), 409, error_code::aborted,
                   HasSubstr("time_updated is " + first));
    EXPECT_EQ(node.get(shown + "/promotion").at("status"), "IN_PROGRESS");
    const std::string second = node.get(shown).at("model_version.time_updated");
    const reply done = put(path, completion(second));
    EXPECT_EQ(done.status(), 200) << done.body();
    EXPECT_EQ(put(path, completion(second)).body(), done.body()) << "the same again";
    EXPECT_EQ(node.get(shown + "/promotion").at("status"), "COMPLETE");
}

TEST_F(refusals, of_a_log_call_name_the_member_that_it_lacks_and_nothing_is_cleared) {
    const std::string at = registry_path + "/model_versions/" + node.version(node.model("m"), "v");
    const auto log = [&](const std::string& call, const std::string& body) {
        return node.ask(&node.administrator, "POST", at + "/" + call, body);
    };
    EXPECT_EQ(log("logDockerMetadata", R"({"docker_metadata":{"request_port":8080}})").status(), 200);
    const std::pair<std::string, std::string> calls[] = {{"logDockerMetadata", "docker_metadata"},
                                                         {"logDatasets", "datasets"},
                                                         {"logAttributes", "attributes"},
                                                         {"logCodeBlobInModelVersion", "code_blob_map"}};
    for (const auto& [call, member] : calls)
        for (const std::string& body : {std::string("{}"), R"({")" + member + R"(":null})",
                                        std::string(R"({"model_version_id":"1","misspelt":{}})")})
            expect_bad(log(call, body), HasSubstr(member + " is missing"));
    EXPECT_THAT(node.get(at).body(), HasSubstr("8080"));
}

TEST_F(refusals, of_a_find_in_a_workspace_do_not_depend_on_the_model_that_its_body_names) {
    const caller other = node.second_administrator();
    const std::string model = node.model("m"), version = node.version(model, "v");
    const auto find_as = [&](const caller& who, const std::string& workspace, const std::string& id) {
        return node.ask(&who, "POST", registry_path + "/workspaces/" + workspace + "/model_versions/find",
                        R"({"id":)" + id + "}");
    };
    const auto find = [&](const std::string& workspace, const std::string& id) {
        return find_as(node.administrator, workspace, id);
    };
    const std::string by_id = R"({"registered_model_id":")" + model + R"("})";
    const std::string by_name = R"({"named_id":{"workspace_name":"Default","name":"m"}})";
    EXPECT_EQ(find("Default", by_id).at("model_versions.0.id"), version);
    EXPECT_EQ(find("Default", by_name).at("model_versions.0.id"), version);
    EXPECT_EQ(find("Default", R"({"registered_model_id":"999"})").at("total_records"), "0");
    EXPECT_EQ(find_as(other, "Default", by_id).at("total_records"), "1");
    EXPECT_EQ(find_as(other, other.email, by_id).at("total_records"), "0") << "it is not in that one";
    EXPECT_EQ(find_as(other, other.email, by_name).status(), 404);
    for (const std::string& id : {by_id, by_name})
        for (const std::string& workspace : {std::string("none"), other.email})
            EXPECT_EQ(find(workspace, id).status(), 404) << workspace;
}

TEST_F(refusals, a_second_open_transition_to_the_same_stage_is_409_and_names_the_first) {
    const std::string version = node.version(node.model("m"), "v");
    const std::string first = asked_for(version, "PRODUCTION");
    expect_refused(of_stage(node.administrator, "create",
                            R"({"model_version_id":")" + version + R"(","desired_stage":"PRODUCTION"})"),
                   409, error_code::already_exists, HasSubstr("transition " + first + " of model version"));
}

TEST_F(refusals, who_is_not_known_is_told_which_header_is_missing_but_not_who_has_an_account) {
    const auto told = [&](std::string_view headers) {
        const reply got = node.ask(nullptr, "POST", models, "{}", headers);
        EXPECT_EQ(got.status(), 401) << got.body();
        return got.at("message");
    };
    const std::string email = "Grpc-Metadata-email: " + node.administrator.email + "\r\n";
    const std::string key = "Grpc-Metadata-developer_key: " + node.administrator.key + "\r\n";
    const std::string wrong_key = "Grpc-Metadata-developer-key: wrong\r\n";
    const std::string no_email = "header Grpc-Metadata-email is missing";
    const std::string no_key = "header Grpc-Metadata-developer_key is missing";
    EXPECT_THAT(told(""), HasSubstr("Grpc-Metadata-email and Grpc-Metadata-developer_key are missing"));
    EXPECT_THAT(told(key), HasSubstr(no_email));
    EXPECT_THAT(told(wrong_key), HasSubstr(no_email));
    EXPECT_THAT(told(key + "Grpc-Metadata-email: \r\n"), HasSubstr(no_email));
    EXPECT_THAT(told(email), HasSubstr(no_key));
    EXPECT_THAT(told(email + "Grpc-Metadata-developer_key: \r\n"), HasSubstr(no_key));
    const std::string wrong_pair = told(email + wrong_key);
    EXPECT_THAT(wrong_pair, HasSubstr("not a valid pair"));
    EXPECT_EQ(told("Grpc-Metadata-email: nobody@example.org\r\n" + wrong_key), wrong_pair);
    EXPECT_EQ(told("Grpc-Metadata-email: nobody@example.org\r\n" + key), wrong_pair);
    EXPECT_EQ(told("Grpc-Metadata-email: " + std::string(1'000, 'x') + "\r\n" + key), wrong_pair);
}

TEST_F(refusals, a_model_that_says_nothing_of_its_visibility_has_the_workspaces) {
    const reply made = node.post(models, R"({"name":"m","resource_visibility":0})");
    EXPECT_EQ(made.at("registered_model.resource_visibility"), "WORKSPACE_DEFAULT") << made.body();
    EXPECT_EQ(node.post(models, R"({"name":"n","resource_visibility":"PRIVATE"})")
                  .at("registered_model.resource_visibility"),
              "PRIVATE");
}

TEST_F(refusals, of_a_report_name_what_a_report_may_say_and_a_finished_scan_is_409) {
    const std::string version = node.version(node.model("m"), "v");
    const std::string builds = "/api/v1/deployment/workspace/Default/builds";
    const reply build =
        node.post(builds, R"({"model_version_id":)" + version + R"(,"external_location":"example.org/m"})");
    const std::string scan = builds + "/" + build.at("id") + "/scan";
    const auto report = [&](const std::string& status) {
        return R"({"scan_status":)" + status +
               R"(,"scan_external_results":{"safety_status":"safe","url":""}})";
    };
    ASSERT_EQ(node.post(scan, R"({"scan_external":true})").status(), 200);
    for (const char* nothing : {"{}", R"({"scan_status":null})"})
        expect_bad(put(scan, nothing), HasSubstr("scan_status is missing; it must be one of scanned error"));
    for (const char* wrong : {"\"SCANNED\"", "\"scanning\"", "\"unscanned\"", "0", "1", "4"})
        expect_bad(put(scan, report(wrong)),
                   HasSubstr("scan_status is " + std::string(wrong) + "; it must be one of scanned error"));
    EXPECT_EQ(put(scan, report("2")).at("scan_status"), "scanned");
    EXPECT_EQ(put(scan, report("\"scanned\"")).status(), 200);
    expect_refused(put(scan, report("3")), 409, error_code::aborted, HasSubstr("is finished as safe"));
}

TEST_F(refusals, what_the_server_owns_of_people_and_their_groups_is_not_ignored_in_silence) {
    const std::string organization = "/api/v2/uac-proxy/organization/1";
    const std::string people = "/api/v1/uac-proxy/uac";
    node.user("other@example.org");
    const std::array<std::array<std::string, 3>, 9> cases{{
        {organization + "/roles", R"({"role":{"name":"r","built_in":true}})", "built_in"},
        {organization + "/groups", R"({"group":{"name":"g","member_ids":["1"]}})", "member_ids"},
        {organization + "/groups", R"({"group":{"org_id":"7","name":"h"}})", "group.org_id"},
        {organization + "/workspaces", R"({"workspace":{"name":"w","built_in":true}})", "built_in"},
        {organization + "/workspaces", R"({"workspace":{"name":"x","org_id":"2"}})", "workspace.org_id"},
        {organization + "/serviceAccounts",
         R"({"service_account":{"email":"bot@example.org","primary_key":"mine"}})", "primary_key"},
        {"/api/v2/uac-proxy/organization", R"({"organization":{"name":"o","created_timestamp":"5"}})",
         "created_timestamp"},
        {people + "/createUser",
         R"({"info":{"email":"new@example.org","verta_info":{"default_workspace_id":"7"}}})",
         "default_workspace_id"},
        {people + "/updateUser",
         R"({"info":{"full_name":"A","verta_info":{"user_id":"1","default_workspace_id":"7"}}})",
         "default_workspace_id"},
    }};
    for (const auto& [path, body, named] : cases) {
        expect_bad(node.post(path, body, "Prefer: handling=strict\r\n"), HasSubstr(named));
        const reply got = node.post(path, body);
        EXPECT_EQ(got.status(), 200) << path << body << got.body();
        EXPECT_THAT(got.header("svc-warning"), HasSubstr(named)) << path << body;
    }
    // What was read may be sent back.
    const reply group = node.get(organization + "/groups/1");
    const reply again = node.post(organization + "/groups", group.body(), "Prefer: handling=strict\r\n");
    EXPECT_THAT(again.at("message"), HasSubstr("built in")) << "refused only because it may not be changed";
    EXPECT_EQ(again.header("svc-warning"), "");
}

TEST_F(refusals, of_reads_are_counted_however_they_are_answered) {
    const caller stranger = node.user("stranger@example.org");
    const std::string model = node.model("m"), version = node.version(model, "v");
    const auto counted = [](error_code code) {
        return runtime::metric_counter(runtime::metrics::access_refused, {{"reason", runtime::name_of(code)}})
            .value();
    };
    const std::uint64_t missed = counted(error_code::not_found),
                        denied = counted(error_code::permission_denied);
    const auto find = registry_path + "/registered_models/" + model + "/model_versions/find";
    EXPECT_EQ(node.ask(&stranger, "POST", find, "{}").status(), 404) << "a find in slices";
    EXPECT_EQ(counted(error_code::not_found), missed + 1);
    EXPECT_EQ(node.ask(nullptr, "GET", registry_path + "/artifact_bytes/00ff?signature=x").status(), 403)
        << "an artifact's URL";
    EXPECT_EQ(counted(error_code::permission_denied), denied + 1);
    EXPECT_EQ(node.ask(&stranger, "POST", events + "/triggerTest", R"({"webhook_id":7})").status(), 404);
    EXPECT_EQ(counted(error_code::not_found), missed + 2) << "no command, so not in the audit";
    EXPECT_EQ(node.ask(&stranger, "DELETE", registry_path + "/model_versions/" + version).status(), 404);
    EXPECT_EQ(counted(error_code::not_found), missed + 2) << "a command, which the audit tells of";
}

TEST_F(refusals, of_webhooks_name_what_is_missing_and_where_ids_begin) {
    expect_bad(node.post(events + "/createWebhook", R"({"name":"w","event_types":["PROMOTE"]})"),
               HasSubstr("location is missing"));
    expect_bad(node.post(events + "/createWebhook", R"({"location":"https://example.org/"})"),
               HasSubstr("name is missing"));
    expect_bad(node.ask(&node.administrator, "DELETE", events + "/deleteWebhook", R"({"ids":[1,0]})"),
               HasSubstr("ids[1] is 0; it must be an id; ids begin at 1"));
}

TEST_F(refusals, of_ids_that_are_missing_in_a_list_name_them) {
    const std::string proxy = "/api/v1/uac-proxy";
    const auto none = HasSubstr("[0] is \"\"; it must be an id");
    expect_bad(node.ask(&node.administrator, "DELETE", events + "/deleteWebhook", R"({"ids":[""]})"), none);
    expect_bad(node.post(events + "/findWebhook", R"({"ids":[""]})"), none);
    expect_bad(node.post(proxy + "/uac/getUsers", R"({"user_ids":[""]})"), none);
    expect_bad(node.post("/api/v2/uac-proxy/organization/1/groups/2/users", R"({"user_id":[""]})"), none);
}

TEST_F(refusals, of_ids_that_are_written_in_another_way_than_herald_writes_them) {
    const std::string model = node.model("m"), version = node.version(model, "v");
    for (const std::string& wrong : {"0" + version, "+" + version, "%20" + version, version + "%20"})
        expect_refused(node.get(registry_path + "/model_versions/" + wrong), 404, error_code::not_found,
                       HasSubstr("is not a valid id"));
    const std::string by_names = std::string(models) + "/m/model_versions/";
    EXPECT_EQ(node.get(by_names + version).status(), 200);
    expect_refused(node.get(by_names + "0" + version), 404, error_code::not_found,
                   HasSubstr("\"0" + version + "\" not found"));
    expect_bad(node.post(registry_path + "/stage/createComment",
                         R"({"comment":"c","model_version_id":"0)" + version + R"("})"),
               HasSubstr("without leading zeros"));
    expect_refused(node.get("/api/v1/deployment/workspace/01/builds/1"), 404, error_code::not_found,
                   HasSubstr("not found"));
}

TEST_F(refusals, of_pages_say_what_a_page_is) {
    const std::string find = registry_path + "/registered_models/find";
    expect_bad(node.post(find, R"({"pagination":{"page_number":-1,"page_limit":10}})"),
               HasSubstr("page_number is -1; it must be 1 or more"));
    EXPECT_EQ(node.post(find, R"({"pagination":{"page_number":0,"page_limit":10}})").status(), 200);
    expect_bad(node.post(events + "/findWebhook", R"({"pagination":{"page_number":-2}})"),
               HasSubstr("page_number is -2"));
}

TEST_F(refusals, of_an_idempotency_key_say_what_is_wrong_with_it) {
    const auto sent = [&](const std::string& key) {
        return node.post(models, R"({"name":"m"})", "Idempotency-Key: " + key + "\r\n");
    };
    expect_bad(sent("a b"), AllOf(HasSubstr("holds a space"), Not(HasSubstr("bytes long"))));
    expect_bad(sent("\xC3\xA9"), HasSubstr("visible ASCII"));
    expect_bad(sent(std::string(129, 'x')), HasSubstr("is 129 bytes long"));
    EXPECT_EQ(sent(std::string(128, 'x')).status(), 200);
}

TEST_F(refusals, of_a_number_too_large_say_how_large_it_may_be) {
    expect_bad(of_stage(node.administrator, "commit", R"({"transition_id":9223372036854775808})"),
               HasSubstr("transition_id is 9223372036854775808; it must be an integer from 0 to "
                         "9223372036854775807"));
}

}  // namespace
}  // namespace herald::test
