// Protects find calls: they answer as the published client expects (client_calls.md §5).
#include "storage/registry/find/find.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/find/limits.hpp"
#include "storage/registry/tables/lists.hpp"
#include "storage/registry/tables/versions.hpp"

#include <gmock/gmock.h>

#include "tests/support/registry.hpp"
#include "tests/unit/storage/registry/whole_search.hpp"

namespace herald::test {
namespace {

using namespace storage;
using namespace storage::registry::find;

using schemas::find_operator;
using storage::registry::state::state_changes;
using storage::registry::state::state_view;
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
        const auto page = whole(search_versions(*registry.view(), registry.admin, request));
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

TEST_F(find_calls, texts_that_are_numbers_may_be_asked_for_by_number) {
    schemas::commands::create_version command;
    command.registered_model_id = model.id;
    command.version.version = "5";
    command.version.labels = {"7"};
    registry.must<schemas::model_version>(command);
    for (const char* five : {"5", "5.0", "\"5\""})
        EXPECT_THAT(names(where("version", find_operator::eq, five)), ElementsAre("5")) << five;
    EXPECT_THAT(names(where("version", find_operator::in, "[4.0,5.0]")), ElementsAre("5"));
    EXPECT_THAT(names(where("labels", find_operator::eq, "7.0")), ElementsAre("5"));
    EXPECT_THAT(names(where("labels", find_operator::eq, "7.5")), ElementsAre());
    const std::string owner = std::to_string(registry.admin.value);
    EXPECT_THAT(names(where("owner", find_operator::eq, owner + ".0")), ElementsAre("v1", "v2", "v3", "5"));
}

TEST_F(find_calls, lists_are_looked_up_in_any_order) {
    EXPECT_THAT(names(where("labels", find_operator::in, "[\"z\",\"l-v3\",\"a\",\"l-v1\"]")),
                ElementsAre("v1", "v3"));
    EXPECT_THAT(names(where("labels", find_operator::not_in, "[\"z\",\"l-v3\",\"a\"]")),
                ElementsAre("v1", "v2"));
    EXPECT_THAT(names(where("stage", find_operator::in, "[\"PRODUCTION\",\"Unassigned\"]")),
                ElementsAre("v1", "v2", "v3"));
    EXPECT_THAT(names(where("attributes.score", find_operator::not_in, "[3,1]")), ElementsAre("v2"));
    EXPECT_THAT(names(where("owner", find_operator::eq, "\"1\"")), ElementsAre("v1", "v2", "v3"));
    EXPECT_THAT(names(where("id", find_operator::lt, "100000000000000000000")),
                ElementsAre("v1", "v2", "v3"));
    EXPECT_THAT(names(where("labels", find_operator::in, "[]")), ElementsAre());
}

TEST_F(find_calls, pages_carry_the_total) {
    schemas::find_request request;
    request.pagination = schemas::pagination{2, 2, {}};
    const auto page = whole(search_versions(*registry.view(), registry.admin, request));
    ASSERT_TRUE(page);
    EXPECT_EQ(page->rows.size(), 1u);
    EXPECT_EQ(page->total_records, 3u);
    request.pagination = schemas::pagination{1'000'000'000'000, 2, {}};
    EXPECT_TRUE(whole(search_versions(*registry.view(), registry.admin, request))->rows.empty());
}

TEST_F(find_calls, without_a_page_limit_all_are_shown) {
    for (const auto& paging :
         {std::optional<schemas::pagination>(), std::optional(schemas::pagination{0, 0, {}}),
          std::optional(schemas::pagination{1, -1, {}})}) {
        schemas::find_request request;
        request.pagination = paging;
        EXPECT_EQ(whole(search_versions(*registry.view(), registry.admin, request))->rows.size(), 3u);
    }
    schemas::find_request request;
    for (const std::int64_t limit : {-2, 1'001}) {
        request.pagination = schemas::pagination{1, limit, {}};
        EXPECT_EQ(whole(search_versions(*registry.view(), registry.admin, request)).error().code,
                  error_code::invalid_argument);
    }
}

/// The names on each page, following the tokens.
template <class Find>
std::vector<std::string> pages(schemas::find_request request, const Find& find) {
    std::vector<std::string> found;
    while (true) {
        const auto page = find(request);
        EXPECT_TRUE(page) << page.error().message;
        if (!page) return found;
        std::string names;
        for (const auto& version : page->rows) names += (names.empty() ? "" : " ") + version.version;
        found.push_back(names);
        if (page->next_page_token.empty()) return found;
        request.pagination->page_token = page->next_page_token;
    }
}

TEST_F(find_calls, tokens_lead_to_each_row_once_in_any_order) {
    const auto find = [&](const auto& request) {
        return whole(search_versions(*registry.view(), registry.admin, request));
    };
    for (const char* key : {"", "version", "time_created", "time_updated"}) {
        schemas::find_request request;
        request.sort_key = key;
        request.pagination = schemas::pagination{1, 2, {}};
        EXPECT_THAT(pages(request, find), ElementsAre("v3 v2", "v1")) << key;
        request.ascending = true;
        EXPECT_THAT(pages(request, find), ElementsAre("v1 v2", "v3")) << key;
        request.pagination->page_limit = 3;
        EXPECT_THAT(pages(request, find), ElementsAre("v1 v2 v3")) << key;
    }
}

TEST_F(find_calls, tokens_pass_over_no_row_when_others_come_and_go) {
    schemas::find_request request;
    request.sort_key = "version";
    request.ascending = true;
    request.pagination = schemas::pagination{1, 2, {}};
    int number = 0;
    const auto find = [&](const auto& asked) {
        // Before each page a row comes that belongs before all others: a page_number would show one twice.
        schemas::commands::create_version command;
        command.registered_model_id = model.id;
        command.version.version = "a" + std::to_string(++number);
        registry.must<schemas::model_version>(command);
        return whole(search_versions(*registry.view(), registry.admin, asked));
    };
    EXPECT_THAT(pages(request, find), ElementsAre("a1 v1", "v2 v3"));
}

TEST_F(find_calls, a_token_that_does_not_belong_here_is_refused) {
    schemas::find_request request;
    request.pagination = schemas::pagination{1, 2, {}};
    const std::string token =
        whole(search_versions(*registry.view(), registry.admin, request))->next_page_token;
    ASSERT_NE(token, "");
    const auto message = [&] {
        const auto page = whole(search_versions(*registry.view(), registry.admin, request));
        EXPECT_FALSE(page);
        return page ? "" : page.error().message;
    };
    for (const std::string& wrong : {std::string("x"), std::string("AAAA"), token.substr(4)}) {
        request.pagination->page_token = wrong;
        EXPECT_THAT(message(), HasSubstr("page_token is not a next_page_token"));
    }
    request.pagination->page_token = token;
    request.ascending = true;
    EXPECT_THAT(message(), HasSubstr("another sort_key or ascending"));
    request.ascending = false;
    request.sort_key = "version";
    EXPECT_THAT(message(), HasSubstr("another sort_key or ascending"));
    request.sort_key = "time_updated";
    request.predicates = {{"version", {"\"v1\""}}};
    EXPECT_THAT(message(), HasSubstr("asked for something else"));
    request.predicates.clear();
    request.workspace_name = "default";
    EXPECT_THAT(message(), HasSubstr("asked for something else"));
    request.workspace_name.clear();
    request.ids = {1, 2, 3};
    EXPECT_THAT(message(), HasSubstr("asked for something else"));
    request.ids.clear();
    request.pagination->page_limit = 1;
    EXPECT_TRUE(whole(search_versions(*registry.view(), registry.admin, request)))
        << "pages may be of any size";
    request.pagination->page_number = 2;
    EXPECT_THAT(message(), HasSubstr("give one of them"));
    request.pagination = schemas::pagination{1, 2, token};
    EXPECT_FALSE(whole(search_models(*registry.view(), registry.admin, request)))
        << "of versions, not of models";
}

/// As many versions of the model as a find answers at a time, and 50 more, of one time: their ids decide.
class many_versions : public find_calls {
  protected:
    static constexpr std::uint64_t first_id = 100'000;
    static constexpr std::uint64_t count = limits::list_rows_max + 50;

    void SetUp() override {
        for (std::uint64_t i = 0; i < count; ++i) {
            schemas::model_version row;
            row.id.value = first_id + i;
            row.registered_model_id = model.id;
            row.workspace_id = model.workspace_id;
            row.version = "v" + std::to_string(row.id.value);
            row.time_created = row.time_updated = 1'000;
            storage::registry::tables::versions::put(all, row);
        }
    }
    std::shared_ptr<const state_view> base = registry.view();
    state_changes all{base.get()};
};

TEST_F(many_versions, all_are_shown_in_two_answers_and_the_first_says_that_it_is_cut) {
    schemas::find_request request;
    request.ascending = true;
    const auto first = whole(search_versions(all, registry.admin, request));
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_EQ(first->rows.size(), limits::list_rows_max);
    EXPECT_EQ(first->total_records, count);
    EXPECT_TRUE(first->is_cut);
    EXPECT_EQ(first->rows.front().id.value, first_id);
    request.pagination = schemas::pagination{1, -1, first->next_page_token};
    const auto rest = whole(search_versions(all, registry.admin, request));
    ASSERT_TRUE(rest) << rest.error().message;
    ASSERT_EQ(rest->rows.size(), 50u);
    EXPECT_EQ(rest->total_records, count);
    EXPECT_EQ(rest->rows.front().id.value, first_id + limits::list_rows_max);
    EXPECT_FALSE(rest->is_cut);
    EXPECT_EQ(rest->next_page_token, "");
}

TEST_F(many_versions, pages_behind_the_ten_thousandth_row_are_found) {
    schemas::find_request request;
    request.pagination = schemas::pagination{101, 100, {}};
    const auto last = whole(search_versions(all, registry.admin, request));
    ASSERT_TRUE(last) << last.error().message;
    EXPECT_EQ(last->rows.size(), 50u);
    EXPECT_EQ(last->rows.back().id.value, first_id) << "the oldest is the last";
    EXPECT_FALSE(last->is_cut);
    request.pagination = schemas::pagination{1, 1, {}};
    const auto newest = whole(search_versions(all, registry.admin, request));
    ASSERT_TRUE(newest);
    EXPECT_EQ(newest->rows.front().id.value, first_id + count - 1);
    EXPECT_EQ(newest->total_records, count);
}

TEST_F(many_versions, a_search_that_takes_too_long_is_refused_saying_how_to_ask_for_less) {
    int looks = 0;
    const auto page = whole(search_versions(all, registry.admin, {}), [&] { return ++looks == 3; });
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().code, error_code::invalid_argument) << "what clients repeat would not help";
    EXPECT_THAT(page.error().message, HasSubstr("name a workspace or a model"));
    EXPECT_EQ(looks, 3) << "it ends there";
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
        const auto page = whole(search_versions(*registry.view(), registry.admin, request));
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
    EXPECT_TRUE(whole(search_models(*registry.view(), registry.admin, request)));
    EXPECT_THAT(whole(search_versions(*registry.view(), registry.admin, request)).error().message,
                AllOf(HasSubstr("registered_model_id"), HasSubstr("experiment_run_id"), HasSubstr("stage")));
    for (const char* key : {"stage", "version"})
        EXPECT_THAT(whole(search_models(*registry.view(), registry.admin, where(key, find_operator::eq, "5")))
                        .error()
                        .message,
                    AllOf(HasSubstr("it must be one of id, name, labels"), Not(HasSubstr("stage,"))));
}

TEST_F(find_calls, show_only_what_the_caller_may_read) {
    const auto stranger = registry.user_named("b@example.org");
    const auto page = whole(search_versions(*registry.view(), stranger.id, {}));
    ASSERT_TRUE(page);
    EXPECT_EQ(page->total_records, 0u);
}

TEST_F(find_calls, say_what_is_wrong_with_a_predicate) {
    const auto bad = [&](const schemas::find_request& request) {
        return whole(search_versions(*registry.view(), registry.admin, request)).error().code;
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
    const auto page = whole(search_models(*registry.view(), registry.admin, request));
    ASSERT_TRUE(page);
    ASSERT_EQ(page->rows.size(), 1u);
    EXPECT_EQ(page->rows[0].id, model.id);
}

TEST_F(find_calls, compare_a_bounded_number_of_values) {
    schemas::find_request request;
    for (std::size_t i = 0; i <= limits::find_values_max; ++i)
        request.predicates.push_back({"name", {"\"v1\""}, find_operator::eq});
    EXPECT_EQ(whole(search_versions(*registry.view(), registry.admin, request)).error().code,
              error_code::invalid_argument);
    std::string list = "[0";
    for (std::size_t i = 0; i < limits::find_values_max; ++i) list += ",1";
    EXPECT_EQ(
        whole(search_versions(*registry.view(), registry.admin, where("id", find_operator::in, list + "]")))
            .error()
            .code,
        error_code::invalid_argument);
}

TEST_F(find_calls, by_ids) {
    schemas::find_request request;
    request.ids = {3, 1, 99};
    EXPECT_THAT(names(request), ElementsAre("v3", "v1"));
}

TEST_F(find_calls, a_page_of_large_rows_is_whole_and_read_in_bounded_pieces) {
    schemas::version_content large;
    large.readme_text.assign(limits::entity_bytes_max - 1'000, 'x');
    constexpr std::size_t count = 40;  // some 10 MB
    for (std::size_t i = 0; i < count; ++i) {
        schemas::commands::create_version command;
        command.registered_model_id = model.id;
        command.version = large;
        command.version.version = "large " + std::to_string(i);
        registry.must<schemas::model_version>(command);
    }
    const auto view = registry.view();
    auto search = search_versions(*view, registry.admin, {});
    ASSERT_TRUE(search);
    ASSERT_TRUE((*search)->go_on(never_late));
    const auto page = (*search)->take();
    ASSERT_TRUE(page) << page.error().message;
    EXPECT_EQ(page->ids.size(), count + 3);
    EXPECT_EQ(page->total_records, count + 3);
    std::vector<std::uint64_t> read;
    for (auto rows = (*search)->read(); !rows.empty(); rows = (*search)->read()) {
        EXPECT_LE(rows.size(), 4u) << "a large one is a piece of its own; the three small ones are the last";
        for (const auto& row : rows) read.push_back(row.id.value);
    }
    EXPECT_EQ(read, page->ids);
}

TEST(pages, whose_place_in_the_order_takes_too_much_memory_are_refused_naming_the_token) {
    schemas::find_request request;
    request.sort_key = "name";
    request.pagination = schemas::pagination{1'000'000, 1'000, {}};
    auto page = page_of_rows::of(request, "");
    ASSERT_TRUE(page);
    const std::string name(limits::name_bytes_max, 'n');
    std::uint64_t id = 0;
    while (!page->is_too_deep()) {
        ASSERT_LT(++id, limits::find_places_bytes_max / limits::name_bytes_max) << "it holds too much";
        page->add(page->place_of(id, name, 0));
    }
    EXPECT_GT(id, 100'000u) << "many pages are found by their number";
    const auto chosen = std::move(*page).choose(std::nullopt);
    ASSERT_FALSE(chosen);
    EXPECT_EQ(chosen.error().code, error_code::invalid_argument);
    EXPECT_THAT(chosen.error().message, HasSubstr("pagination.page_token"));
}

TEST(pages, behind_many_others_hold_the_rows_that_are_theirs) {
    schemas::find_request request;
    request.sort_key = "time_created";
    request.pagination = schemas::pagination{400, 10, {}};
    auto page = page_of_rows::of(request, "");
    ASSERT_TRUE(page);
    constexpr std::uint64_t count = 50'000;
    for (std::uint64_t i = 0; i < count; ++i) page->add(page->place_of(i * 7919 % count + 1, {}, 0));
    const auto chosen = std::move(*page).choose(std::nullopt);
    ASSERT_TRUE(chosen);
    EXPECT_EQ(chosen->total_records, count);
    ASSERT_EQ(chosen->ids.size(), 10u);
    for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(chosen->ids[i], count - 3'990 - i);
}

}  // namespace
}  // namespace herald::test
