// Protects the calls for builds, scans and what is served: they do what wire.md §4 and §5 say.
#include "tests/unit/api/handlers.hpp"

namespace herald::test {
namespace {

using ::testing::HasSubstr;

TEST_F(handlers, a_scan_is_requested_reported_and_shown) {
    const std::string version = node.version(node.model("m"), "v");
    const std::string builds = deployment + "/workspace/Default/builds";
    expect_refused(node.post(builds, "{}"), 400, error_code::invalid_argument, "model_version_id is missing");
    const reply build = node.post(
        builds, R"({"model_version_id":)" + version + R"(,"external_location":"registry.example.com/m:1"})");
    ASSERT_EQ(build.status(), 200) << build.body();
    const std::string scan = builds + "/" + build.at("id") + "/scan";
    const std::string shown = deployment + "/builds/" + build.at("id") + "/scan";
    EXPECT_EQ(node.get(shown).at("scan_status"), "unscanned");
    const reply asked = node.post(scan, R"({"scan_external":true})");
    EXPECT_EQ(asked.at("scan_status"), "scanning");
    EXPECT_EQ(asked.at("requested_by"), "1");
    const reply reported =
        node.ask(&node.administrator, "PUT", scan,
                 R"({"scan_status":"scanned","scan_external_results":{"safety_status":"unsafe",)"
                 R"("url":"https://scanner.example.com/1"}})");
    EXPECT_EQ(reported.at("safety_status"), "unsafe") << reported.body();
    EXPECT_EQ(node.get(shown).at("scan_external_results.safety_status"), "unsafe");
    EXPECT_EQ(node.get(deployment + "/builds?model_version_id=" + version).at("builds.0.id"), build.at("id"));
}

TEST_F(handlers, builds_of_a_workspace_are_found_by_what_became_of_them) {
    const std::string version = node.version(node.model("m"), "v");
    const std::string builds = deployment + "/workspace/Default/builds";
    const auto made = [&] {
        return node
            .post(builds, R"({"model_version_id":)" + version + R"(,"external_location":"example.org/m"})")
            .at("id");
    };
    const std::string safe = made(), unsafe = made(), fresh = made();
    const auto report = [&](const std::string& build, const std::string& verdict) {
        EXPECT_EQ(node.post(builds + "/" + build + "/scan", R"({"scan_external":true})").status(), 200);
        const std::string body =
            R"({"scan_status":"scanned","scan_external_results":{"safety_status":")" + verdict + R"("}})";
        EXPECT_EQ(node.ask(&node.administrator, "PUT", builds + "/" + build + "/scan", body).status(), 200);
    };
    report(safe, "safe");
    report(unsafe, "unsafe");
    const auto found = [&](const std::string& query) {
        const reply got = node.get(builds + query);
        std::string ids;
        for (int i = 0; got.at("builds." + std::to_string(i) + ".id") != ""; ++i)
            ids += got.at("builds." + std::to_string(i) + ".id") + " ";
        EXPECT_EQ(got.status(), 200) << got.body();
        return ids;
    };
    EXPECT_EQ(found(""), fresh + " " + unsafe + " " + safe + " ");
    EXPECT_EQ(found("?page_limit=1&page_number=2"), unsafe + " ");
    EXPECT_EQ(found("?safety_status=unsafe"), unsafe + " ");
    EXPECT_EQ(found("?scan_status=unscanned"), fresh + " ");
    EXPECT_EQ(found("?status=error"), "");
    report(unsafe, "safe");
    EXPECT_EQ(found("?safety_status=unsafe"), unsafe + " ") << "it stays unsafe";
    EXPECT_EQ(found("?safety_status=safe"), safe + " ");
    expect_refused(node.get(builds + "?status=lost"), 400, error_code::invalid_argument,
                   "one of building finished error");
    const caller stranger = node.user("s@example.org");
    EXPECT_EQ(node.ask(&stranger, "GET", builds).status(), 404);
}

TEST_F(handlers, what_a_workspace_serves_is_one_answer) {
    const std::string endpoints = deployment + "/workspace/Default/endpoints";
    std::string first = node.post(endpoints, R"({"path":"/a"})").at("id");
    std::string second = node.post(endpoints, R"({"path":"/b"})").at("id");
    if (second < first) std::swap(first, second);
    ASSERT_EQ(node.post(endpoints + "/" + second + "/stages", R"({"name":"production"})").status(), 200);
    const std::string serving = deployment + "/workspace/Default/serving";
    const reply all = node.get(serving);
    EXPECT_EQ(all.at("endpoints.0.id"), first) << all.body();
    EXPECT_EQ(all.at("endpoints.0.stages"), "[]");
    EXPECT_EQ(all.at("endpoints.1.stages.0.name"), "production");
    EXPECT_EQ(all.at("endpoints.1.stages.0.status"), "inactive");
    EXPECT_EQ(all.at("total_records"), "2");
    const reply page = node.get(serving + "?page_limit=1");
    EXPECT_EQ(
        node.get(serving + "?page_limit=1&page_token=" + page.at("next_page_token")).at("endpoints.0.id"),
        second);
    const caller stranger = node.user("s@example.org");
    EXPECT_EQ(node.ask(&stranger, "GET", serving).status(), 404);
}

TEST_F(handlers, every_answer_of_a_scan_has_the_earlier_ones) {
    const std::string version = node.version(node.model("m"), "v");
    const std::string builds = deployment + "/workspace/Default/builds";
    const reply build =
        node.post(builds, R"({"model_version_id":)" + version + R"(,"external_location":"example.org/m"})");
    ASSERT_EQ(build.status(), 200) << build.body();
    const std::string scan = builds + "/" + build.at("id") + "/scan";
    const reply first = node.post(scan, R"({"scan_external":true})");
    EXPECT_EQ(first.at("history"), "[]");
    const std::string report =
        R"({"scan_status":"scanned","scan_external_results":{"safety_status":"safe","url":"https://s.example.org"}})";
    ASSERT_EQ(node.ask(&node.administrator, "PUT", scan, report).status(), 200);
    const reply second = node.post(scan, R"({"scan_external":true})");
    EXPECT_EQ(second.at("history.0.id"), first.at("id"));
    const reply reported = node.ask(&node.administrator, "PUT", scan, report);
    EXPECT_EQ(reported.at("history.0.id"), first.at("id"));
    EXPECT_EQ(node.get(deployment + "/builds/" + build.at("id") + "/scan").body(), reported.body());
}

TEST_F(handlers, a_scan_of_a_version_that_cannot_be_built_tells_the_builds_error) {
    const std::string version = node.version(node.model("m"), "v");
    const reply asked =
        node.post(registry_path + "/model_versions/" + version + "/requestScan", R"({"scan_external":true})");
    EXPECT_EQ(asked.status(), 200) << asked.body();
    EXPECT_EQ(asked.at("scan_status"), "unscanned");
    EXPECT_THAT(asked.at("message"), HasSubstr("give external_location"));
    const reply builds = node.get(deployment + "/builds?model_version_id=" + version);
    EXPECT_EQ(builds.at("builds.0.id"), asked.at("build_id"));
    EXPECT_EQ(builds.at("builds.0.status"), "error");
}

}  // namespace
}  // namespace herald::test
