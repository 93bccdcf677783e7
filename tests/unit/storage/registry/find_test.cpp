// Protects find calls: they answer as the published client expects (client_calls.md §5).
#include "storage/registry/find/find.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/find/limits.hpp"

#include <gmock/gmock.h>

#include "tests/support/registry.hpp"

namespace herald::test {
namespace {

using namespace storage;
using namespace storage::registry::find;

using schemas::find_operator;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class find_calls : public testing::Test {
  protected:
    registry registry;
    schemas::registered_model model = registry.model_named("m");

    void SetUp() override {
        for (const char* name : {"v1", "v2", "v3"}) {
            schemas::commands::create_version command;
            command.registered_model_id = model.id;
            command.version.version = name;
            command.version.labels = {std::string("l-") + name, "common"};
            command.version.attributes = {{"score", {std::to_string(name[1] - '0')}, {}}};
            registry.must<schemas::model_version>(command);
        }
    }
    std::vector<std::string> names(const schemas::find_request& request) {
        const auto page = find_versions(*registry.view(), registry.admin, request);
        EXPECT_TRUE(page) << page.error().message;
        std::vector<std::string> found;
        for (const auto& version : page->rows) found.push_back(version.version);
        return found;
    }
    static schemas::find_request where(std::string key, find_operator op, std::string json) {
        schemas::find_request request;
        request.ascending = true;
        request.predicates.push_back({std::move(key), {std::move(json)}, op});
        return request;
    }
};

TEST_F(find_calls, newest_first_unless_told_otherwise) {
    EXPECT_THAT(names({}), ElementsAre("v3", "v2", "v1"));
    schemas::find_request ascending;
    ascending.ascending = true;
    ascending.sort_key = "version";
    EXPECT_THAT(names(ascending), ElementsAre("v1", "v2", "v3"));
}

TEST_F(find_calls, by_name_label_stage_number_and_attribute) {
    EXPECT_THAT(names(where("version", find_operator::eq, "\"v2\"")), ElementsAre("v2"));
    EXPECT_THAT(names(where("version", find_operator::eq, "\"none\"")), ElementsAre());
    EXPECT_THAT(names(where("labels", find_operator::eq, "\"l-v3\"")), ElementsAre("v3"));
    EXPECT_THAT(names(where("labels", find_operator::ne, "\"l-v3\"")), ElementsAre("v1", "v2"));
    EXPECT_THAT(names(where("stage", find_operator::eq, "\"unassigned\"")), ElementsAre("v1", "v2", "v3"));
    EXPECT_THAT(names(where("id", find_operator::gte, "2.0")), ElementsAre("v2", "v3"));
    EXPECT_THAT(names(where("id", find_operator::in, "[1,\"3\"]")), ElementsAre("v1", "v3"));
    EXPECT_THAT(names(where("attributes.score", find_operator::lt, "2.5")), ElementsAre("v1", "v2"));
    EXPECT_THAT(names(where("version", find_operator::contain, "\"v\"")), ElementsAre("v1", "v2", "v3"));
}

TEST_F(find_calls, lists_are_looked_up_in_any_order) {
    EXPECT_THAT(names(where("labels", find_operator::in, "[\"z\",\"l-v3\",\"a\",\"l-v1\"]")),
                ElementsAre("v1", "v3"));
    EXPECT_THAT(names(where("labels", find_operator::not_in, "[\"z\",\"l-v3\",\"a\"]")),
                ElementsAre("v1", "v2"));
    EXPECT_THAT(names(where("stage", find_operator::in, "[\"PRODUCTION\",\"Unassigned\"]")),
                ElementsAre("v1", "v2", "v3"));
    EXPECT_THAT(names(where("attributes.score", find_operator::not_in, "[3,\"1\"]")), ElementsAre("v2"));
    EXPECT_THAT(names(where("owner", find_operator::eq, "\"1\"")), ElementsAre("v1", "v2", "v3"));
    EXPECT_THAT(names(where("id", find_operator::lt, "100000000000000000000")),
                ElementsAre("v1", "v2", "v3"));
    EXPECT_THAT(names(where("labels", find_operator::in, "[]")), ElementsAre());
}

TEST_F(find_calls, pages_carry_the_total) {
    schemas::find_request request;
    request.pagination = schemas::pagination{2, 2};
    const auto page = find_versions(*registry.view(), registry.admin, request);
    ASSERT_TRUE(page);
    EXPECT_EQ(page->rows.size(), 1u);
    EXPECT_EQ(page->total_records, 3u);
    request.pagination = schemas::pagination{1'000'000'000'000, 2};
    EXPECT_TRUE(find_versions(*registry.view(), registry.admin, request)->rows.empty());
}

TEST_F(find_calls, without_a_page_limit_all_are_shown) {
    for (const auto& paging : {std::optional<schemas::pagination>(), std::optional(schemas::pagination{0, 0}),
                               std::optional(schemas::pagination{1, -1})}) {
        schemas::find_request request;
        request.pagination = paging;
        EXPECT_EQ(find_versions(*registry.view(), registry.admin, request)->rows.size(), 3u);
    }
    schemas::find_request request;
    for (const std::int64_t limit : {-2, 1'001}) {
        request.pagination = schemas::pagination{1, limit};
        EXPECT_EQ(find_versions(*registry.view(), registry.admin, request).error().code,
                  error_code::invalid_argument);
    }
}

TEST_F(find_calls, stages_and_lock_levels_are_names_in_any_case_or_numbers) {
    for (const char* unassigned : {"\"UNASSIGNED\"", "\"Unassigned\"", "5", "\"5\""})
        EXPECT_THAT(names(where("stage", find_operator::eq, unassigned)), ElementsAre("v1", "v2", "v3"));
    EXPECT_THAT(names(where("stage", find_operator::in, "[1,2]")), ElementsAre());
    EXPECT_THAT(names(where("lock_level", find_operator::eq, "\"open\"")), ElementsAre("v1", "v2", "v3"));
    EXPECT_THAT(names(where("lock_level", find_operator::gt, "1")), ElementsAre());
}

TEST_F(find_calls, a_value_that_the_key_cannot_have_is_refused_saying_what_it_must_be) {
    const auto refusal = [&](const schemas::find_request& request) {
        const auto page = find_versions(*registry.view(), registry.admin, request);
        return page ? "" : page.error().message;
    };
    EXPECT_THAT(refusal(where("stage", find_operator::eq, "\"bogus\"")),
                HasSubstr("the value for stage is \"bogus\"; it must be one of"));
    EXPECT_THAT(refusal(where("stage", find_operator::in, "[5,6]")), HasSubstr("is 6; it must be one of"));
    EXPECT_THAT(refusal(where("id", find_operator::eq, "\"zzz\"")), HasSubstr("it must be a number"));
    EXPECT_THAT(refusal(where("version", find_operator::eq, "{}")), HasSubstr("it must be a text"));
    EXPECT_THAT(refusal(where("id", find_operator::contain, "1")), HasSubstr("CONTAIN needs one"));
}

TEST_F(find_calls, an_unknown_key_is_refused_naming_those_of_this_call) {
    const auto request = where("name", find_operator::eq, "\"m\"");
    EXPECT_TRUE(find_models(*registry.view(), registry.admin, request));
    EXPECT_THAT(find_versions(*registry.view(), registry.admin, request).error().message,
                AllOf(HasSubstr("registered_model_id"), HasSubstr("experiment_run_id"), HasSubstr("stage")));
    for (const char* key : {"stage", "version"})
        EXPECT_THAT(
            find_models(*registry.view(), registry.admin, where(key, find_operator::eq, "5")).error().message,
            AllOf(HasSubstr("it must be one of id, name, labels"), Not(HasSubstr("stage,"))));
}

TEST_F(find_calls, show_only_what_the_caller_may_read) {
    const auto stranger = registry.user_named("b@example.org");
    const auto page = find_versions(*registry.view(), stranger.id, {});
    ASSERT_TRUE(page);
    EXPECT_EQ(page->total_records, 0u);
}

TEST_F(find_calls, say_what_is_wrong_with_a_predicate) {
    const auto bad = [&](const schemas::find_request& request) {
        return find_versions(*registry.view(), registry.admin, request).error().code;
    };
    EXPECT_EQ(bad(where("colour", find_operator::eq, "1")), error_code::invalid_argument);
    EXPECT_EQ(bad(where("id", find_operator::in, "1")), error_code::invalid_argument);
    schemas::find_request sort;
    sort.sort_key = "colour";
    EXPECT_EQ(bad(sort), error_code::invalid_argument);
}

TEST_F(find_calls, models_too) {
    registry.model_named("other");
    schemas::find_request request = where("name", find_operator::eq, "\"m\"");
    request.workspace_name = "default";
    const auto page = find_models(*registry.view(), registry.admin, request);
    ASSERT_TRUE(page);
    ASSERT_EQ(page->rows.size(), 1u);
    EXPECT_EQ(page->rows[0].id, model.id);
}

TEST_F(find_calls, compare_a_bounded_number_of_values) {
    schemas::find_request request;
    for (std::size_t i = 0; i <= limits::find_values_max; ++i)
        request.predicates.push_back({"name", {"\"v1\""}, find_operator::eq});
    EXPECT_EQ(find_versions(*registry.view(), registry.admin, request).error().code,
              error_code::invalid_argument);
    std::string list = "[0";
    for (std::size_t i = 0; i < limits::find_values_max; ++i) list += ",1";
    EXPECT_EQ(find_versions(*registry.view(), registry.admin, where("id", find_operator::in, list + "]"))
                  .error()
                  .code,
              error_code::invalid_argument);
}

TEST_F(find_calls, by_ids) {
    schemas::find_request request;
    request.ids = {3, 1, 99};
    EXPECT_THAT(names(request), ElementsAre("v3", "v1"));
}

TEST_F(find_calls, a_page_has_a_bounded_size) {
    schemas::commands::version_content large;
    large.readme_text.assign(limits::entity_bytes_max - 1'000, 'x');
    const std::size_t fitting = limits::find_answer_bytes_max / limits::entity_bytes_max;
    for (std::size_t i = 0; i <= fitting; ++i) {
        schemas::commands::create_version command;
        command.registered_model_id = model.id;
        command.version = large;
        command.version.version = "large " + std::to_string(i);
        registry.must<schemas::model_version>(command);
    }
    EXPECT_EQ(find_versions(*registry.view(), registry.admin, {}).error().code, error_code::invalid_argument);
    schemas::find_request paged;
    paged.pagination = schemas::pagination{1, 10};
    const auto page = find_versions(*registry.view(), registry.admin, paged);
    ASSERT_TRUE(page);
    EXPECT_EQ(page->rows.size(), 10u);
    EXPECT_EQ(page->total_records, fitting + 4);
}

}  // namespace
}  // namespace herald::test
