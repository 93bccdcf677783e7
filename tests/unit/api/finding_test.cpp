// Protects callers of finds from taking a part for the whole: an answer that is cut says so, and how to go
// on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schemas/limits.hpp"
#include "storage/registry/find/limits.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/registry/tables/versions.hpp"
#include "storage/registry/tables/webhooks.hpp"
#include "tests/unit/api/node_without_sockets.hpp"

namespace herald::test {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t too_many = limits::list_rows_max + 3;

void add_many(storage::registry::state::state_changes& state) {
    schemas::registered_model model;
    model.workspace_id.value = 1;
    schemas::webhook hook;
    hook.workspace_id.value = 1;
    for (std::uint64_t i = 1; i <= too_many; ++i) {
        model.id.value = i;
        model.name = "m" + std::to_string(i);
        storage::registry::tables::models::put(state, model);
        schemas::model_version version;
        version.id.value = i;
        version.registered_model_id.value = 1;
        version.workspace_id.value = 1;
        version.version = "v" + std::to_string(i);
        storage::registry::tables::versions::put(state, version);
        hook.id.value = i;
        hook.settings.name = "w" + std::to_string(i);
        storage::registry::tables::webhooks::put(state, hook);
    }
}

class finding : public testing::Test {
  protected:
    static std::size_t rows(const reply& answer, std::string_view member) {
        const auto whole = schemas::parse_json(answer.body());
        const auto* list = whole ? whole->find(member)->get_if<schemas::json_array>() : nullptr;
        return list ? list->size() : 0;
    }
    /// Without paging: the first rows, and the token leads to the rest.
    void expect_cut(const std::string& path, std::string_view member) {
        const reply first = node.post(path, R"({"ascending":true})");
        ASSERT_EQ(first.status(), 200) << first.body();
        EXPECT_EQ(rows(first, member), limits::list_rows_max) << path;
        EXPECT_EQ(first.at("total_records"), std::to_string(too_many));
        EXPECT_EQ(first.header("svc-warning"),
                  "these are 10000 of 10003 records; ask for the rest with pagination.page_token");
        const reply rest = node.post(path, R"({"ascending":true,"pagination":{"page_token":")" +
                                               first.at("next_page_token") + R"("}})");
        ASSERT_EQ(rest.status(), 200) << rest.body();
        EXPECT_EQ(rows(rest, member), 3u) << path;
        EXPECT_EQ(rest.at(std::string(member) + ".0.id"), std::to_string(limits::list_rows_max + 1));
        EXPECT_EQ(rest.at("total_records"), std::to_string(too_many));
        EXPECT_EQ(rest.at("next_page_token"), "");
        EXPECT_EQ(rest.header("svc-warning"), "");
    }

    node_without_sockets node{storage::node::node_kind::standalone, api::routes::all_routes(), add_many};
};

TEST_F(finding, models_beyond_the_bound_are_cut_with_a_warning_and_a_token) {
    expect_cut("/api/v1/registry/registered_models/find", "registered_models");
    expect_cut("/api/v1/registry/workspaces/Default/registered_models/find", "registered_models");
}

TEST_F(finding, versions_beyond_the_bound_are_cut_with_a_warning_and_a_token) {
    expect_cut("/api/v1/registry/model_versions/find", "model_versions");
    expect_cut("/api/v1/registry/registered_models/1/model_versions/find", "model_versions");
}

TEST_F(finding, a_page_that_was_asked_for_is_whole_and_has_a_token) {
    const std::string path = "/api/v1/registry/model_versions/find";
    const reply page = node.post(path, R"({"pagination":{"page_number":2,"page_limit":100}})");
    EXPECT_EQ(rows(page, "model_versions"), 100u) << page.body();
    EXPECT_EQ(page.header("svc-warning"), "");
    const reply next = node.post(
        path, R"({"pagination":{"page_limit":100,"page_token":")" + page.at("next_page_token") + R"("}})");
    const reply third = node.post(path, R"({"pagination":{"page_number":3,"page_limit":100}})");
    EXPECT_EQ(next.at("model_versions"), third.at("model_versions"));
}

TEST_F(finding, long_answers_come_in_pieces_and_short_ones_whole) {
    const std::string path = "/api/v1/registry/model_versions/find";
    const reply all = node.post(path, "{}");
    ASSERT_EQ(all.status(), 200);
    EXPECT_TRUE(all.is_streamed());
    EXPECT_GT(all.body().size(), limits::find_whole_bytes_max);
    EXPECT_EQ(rows(all, "model_versions"), limits::list_rows_max);
    EXPECT_FALSE(node.post(path, R"({"pagination":{"page_limit":10}})").is_streamed());
    const reply none = node.post(path, R"({"predicates":[{"key":"version","value":"none","operator":0}]})");
    EXPECT_EQ(none.body(), R"({"model_versions":[],"total_records":"0","next_page_token":""})");
}

TEST_F(finding, webhooks_are_given_page_by_page) {
    const std::string path = "/api/v1/uac-proxy/events/findWebhook";
    const reply first = node.post(path, R"({"pagination":{"page_limit":1000}})");
    EXPECT_EQ(rows(first, "webhooks"), 1'000u);
    EXPECT_EQ(first.at("total_records"), std::to_string(too_many));
    const std::string next =
        R"("pagination":{"page_limit":1000,"page_token":")" + first.at("next_page_token") + R"("}})";
    const reply second = node.post(path, "{" + next);
    EXPECT_EQ(rows(second, "webhooks"), 1'000u);
    EXPECT_EQ(std::stoull(second.at("webhooks.0.id")), std::stoull(first.at("webhooks.999.id")) + 1);
    EXPECT_EQ(node.post(path, R"({"names":["w"],)" + next).status(), 400) << "a token of another find";
}

TEST_F(finding, webhooks_beyond_the_bound_are_cut_with_a_warning_and_counted) {
    const reply found = node.post("/api/v1/uac-proxy/events/findWebhook", "{}");
    ASSERT_EQ(found.status(), 200) << found.body();
    EXPECT_EQ(rows(found, "webhooks"), limits::list_rows_max);
    EXPECT_EQ(found.at("total_records"), std::to_string(too_many));
    EXPECT_THAT(found.header("svc-warning"), HasSubstr("10000 of 10003 records"));
}

}  // namespace
}  // namespace herald::test
