// Protects uploads: what the log did not take leaves no bytes behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "api/registry/limits.hpp"
#include "tests/support/until.hpp"
#include "tests/unit/api/node_without_sockets.hpp"

namespace herald::test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class artifact_upload : public testing::Test {
  protected:
    node_without_sockets node;
    const std::string version = version_with_artifact();

    std::string version_with_artifact() {
        const std::string id = node.version(node.model("m"), "v");
        const reply changed = node.ask(&node.administrator, "PATCH",
                                       "/api/v1/registry/registered_models/1/model_versions/" + id,
                                       R"({"artifacts":[{"key":"f","path":"f"}]})");
        EXPECT_EQ(changed.status(), 200) << changed.body();
        return id;
    }
    std::string url(const std::string& method) {
        const reply made = node.post("/api/v1/registry/model_versions/" + version + "/getUrlForArtifact",
                                     R"({"key":"f","method":")" + method + R"("})");
        EXPECT_EQ(made.status(), 200) << made.body();
        return made.at("url").substr(std::string("http://herald").size());
    }
    reply put(const std::string& bytes) { return node.ask(nullptr, "PUT", url("PUT"), bytes); }
    reply get() { return node.ask(nullptr, "GET", url("GET")); }
};

TEST_F(artifact_upload, whose_command_is_refused_leaves_no_object) {
    node.artifacts.end_of_names = std::string(300, 'x');  // longer than the log takes
    EXPECT_EQ(put("bytes").status(), 400);
    EXPECT_THAT(node.artifacts.objects, IsEmpty());
    node.artifacts.end_of_names.clear();
    EXPECT_EQ(put("bytes").status(), 200);
    EXPECT_THAT(node.artifacts.objects, SizeIs(1));
}

TEST_F(artifact_upload, does_not_begin_in_a_store_that_another_log_has_taken_or_whose_disk_is_gone) {
    const auto ours = node.artifacts.kept_owner;
    for (const auto& found : {std::optional(storage::artifacts::store_owner{ours->log_id, 2}),
                              std::optional<storage::artifacts::store_owner>()}) {
        node.artifacts.kept_owner = found;
        EXPECT_EQ(put("bytes").status(), 503);
        EXPECT_THAT(node.artifacts.objects, IsEmpty());
    }
    node.artifacts.kept_owner = ours;
    EXPECT_EQ(put("bytes").status(), 200);
}

TEST_F(artifact_upload, that_takes_long_ends_when_its_user_may_no_longer) {
    const std::string target = url("PUT");
    node.artifacts.is_slow = true;
    auto answer = std::async(std::launch::async, [&] { return node.ask(nullptr, "PUT", target, "bytes"); });
    ASSERT_TRUE(eventually([&] { return node.artifacts.is_taking.load(); }));
    const reply closed =
        node.ask(&node.administrator, "PUT", "/api/v1/registry/model_versions/" + version + "/lock",
                 R"({"lock_level":2})");
    EXPECT_EQ(closed.status(), 200) << closed.body();
    node.time_passes(limits::artifact_judged_again_ms);
    node.artifacts.is_slow = false;
    const reply refused = answer.get();
    EXPECT_EQ(refused.status(), 403);
    EXPECT_THAT(refused.body(), testing::HasSubstr("locked for changes"));
    EXPECT_THAT(node.artifacts.objects, IsEmpty()) << "it was not taken to its end";
}

TEST_F(artifact_upload, does_not_begin_before_the_store_is_checked) {
    const std::string target = url("PUT");
    node.store_is_checked(false);
    EXPECT_EQ(node.ask(nullptr, "PUT", target, "bytes").status(), 503);
    node.store_is_checked(true);
    EXPECT_EQ(node.ask(nullptr, "PUT", target, "bytes").status(), 200);
}

TEST_F(artifact_upload, of_the_same_bytes_brings_back_what_was_lost) {
    ASSERT_EQ(put("bytes").status(), 200);
    node.artifacts.objects.clear();
    EXPECT_NE(get().status(), 200);
    ASSERT_EQ(put("bytes").status(), 200);
    EXPECT_EQ(get().status(), 200);
}

TEST_F(artifact_upload, is_no_page_for_the_browser_that_gets_it) {
    ASSERT_EQ(put("<script>alert(1)</script>").status(), 200);
    EXPECT_EQ(get().header("content-disposition"), "attachment");
    EXPECT_EQ(get().header("content-security-policy"), "default-src 'none'; sandbox");
}

TEST_F(artifact_upload, holds_to_if_match_and_if_none_match) {
    const auto put_if = [&](const std::string& field, const std::string& value) {
        return node.ask(nullptr, "PUT", url("PUT"), "others", field + ": " + value + "\r\n").status();
    };
    const auto get_if = [&](const std::string& method, const std::string& value) {
        return node.ask(nullptr, method, url("GET"), "", "if-none-match: " + value + "\r\n");
    };
    EXPECT_EQ(put_if("if-match", "*"), 412) << "there are no bytes yet";
    EXPECT_EQ(put_if("if-none-match", "*"), 200);
    EXPECT_EQ(put_if("if-none-match", "*"), 412);
    EXPECT_EQ(put_if("if-match", "\"other\""), 412);
    const std::string etag = get().header("etag");
    EXPECT_EQ(put_if("if-none-match", "\"x\", " + etag), 412);
    EXPECT_EQ(put_if("if-match", "W/" + etag), 412) << "a weak one does not match strongly";
    EXPECT_EQ(put_if("if-match", "\"x\", " + etag), 200);
    for (const char* method : {"GET", "HEAD"}) {
        const reply same = get_if(method, "\"x\", W/" + etag);
        EXPECT_EQ(same.status(), 304) << method;
        EXPECT_EQ(same.header("etag"), etag);
        EXPECT_EQ(get_if(method, "*").status(), 304);
        EXPECT_EQ(get_if(method, "\"x\"").status(), 200);
    }
    EXPECT_EQ(node.ask(nullptr, "GET", url("GET"), "", "if-match: \"x\"\r\n").status(), 412);
}

}  // namespace
}  // namespace herald::test
