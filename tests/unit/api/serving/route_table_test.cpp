// A prediction goes to the endpoint at its path, the stage of its token, and by shares to a component; a
// change touches only what it changes.
#include "api/serving/route_table.hpp"

#include <gtest/gtest.h>

#include "api/serving/components.hpp"

namespace herald::api::serving {
namespace {

schemas::uuid id_of(std::uint16_t number) {
    schemas::uuid id{};
    id[0] = static_cast<std::uint8_t>(number >> 8);
    id[15] = static_cast<std::uint8_t>(number);
    return id;
}

token_route token_of(const std::string& value, std::uint32_t stage = 0) {
    return {runtime::sha256(value), stage};
}

std::shared_ptr<endpoint_route> endpoint_at(std::uint16_t number, const std::string& path,
                                            std::vector<token_route> tokens = {}) {
    auto out = std::make_shared<endpoint_route>();
    out->id = id_of(number);
    out->path = path;
    out->v2_name = path.substr(1);
    out->stages.resize(2);
    out->tokens = std::move(tokens);
    std::ranges::sort(out->tokens, {}, &token_route::hash);
    return out;
}

std::shared_ptr<const route_table> table_of(const std::vector<std::shared_ptr<endpoint_route>>& all) {
    std::vector<route_table::change> changes;
    for (const auto& each : all) changes.push_back({each->id, each});
    return route_table().with(changes);
}

TEST(route_table, finds_an_endpoint_by_path_by_v2_name_and_by_id) {
    const auto table = table_of({endpoint_at(1, "/a"), endpoint_at(2, "/b")});
    EXPECT_EQ(table->size(), 2u);
    EXPECT_EQ((*table->find("/a"))->id, id_of(1));
    EXPECT_EQ((*table->find_v2("b"))->id, id_of(2));
    EXPECT_EQ((*table->find_id(id_of(2)))->path, "/b");
    EXPECT_EQ(table->find("/c"), nullptr);
    EXPECT_EQ(table->find("a"), nullptr);
    EXPECT_EQ(table->find_v2("/a"), nullptr);
}

TEST(route_table, a_change_leaves_the_snapshot_before_and_all_other_entries_as_they_are) {
    const auto before = table_of({endpoint_at(1, "/a"), endpoint_at(2, "/b")});
    const auto after = before->with({{id_of(1), endpoint_at(1, "/a", {token_of("t")})}});
    EXPECT_EQ(before->find("/b")->get(), after->find("/b")->get());
    EXPECT_TRUE((*before->find("/a"))->tokens.empty());
    EXPECT_EQ((*after->find("/a"))->tokens.size(), 1u);
    EXPECT_EQ(after->size(), 2u);
}

TEST(route_table, an_endpoint_that_is_gone_is_found_by_nothing) {
    const auto table = table_of({endpoint_at(1, "/a", {token_of("t")})})->with({{id_of(1), nullptr}});
    EXPECT_EQ(table->size(), 0u);
    EXPECT_EQ(table->find("/a"), nullptr);
    EXPECT_EQ(table->find_v2("a"), nullptr);
    EXPECT_EQ(table->find_id(id_of(1)), nullptr);
    EXPECT_FALSE(table->has_token(runtime::sha256("t")));
}

TEST(route_table, a_path_may_pass_from_one_endpoint_to_another_in_one_change) {
    const auto before = table_of({endpoint_at(1, "/a")});
    const auto after = before->with({{id_of(2), endpoint_at(2, "/a")}, {id_of(1), nullptr}});
    EXPECT_EQ((*after->find("/a"))->id, id_of(2));
    EXPECT_EQ(after->size(), 1u);
}

TEST(route_table, ten_thousand_endpoints_are_each_found) {
    std::vector<std::shared_ptr<endpoint_route>> all;
    for (std::uint16_t number = 0; number < 10'000; ++number)
        all.push_back(endpoint_at(number, "/team/" + std::to_string(number)));
    const auto table = table_of(all);
    EXPECT_EQ(table->size(), 10'000u);
    for (const auto& each : all) {
        ASSERT_EQ(table->find(each->path)->get(), each.get());
        ASSERT_EQ(table->find_id(each->id)->get(), each.get());
    }
    std::size_t seen = 0;
    table->each([&](const auto&) { ++seen; });
    EXPECT_EQ(seen, 10'000u);
}

TEST(route_table, a_token_opens_its_own_stage) {
    const auto endpoint = endpoint_at(1, "/a", {token_of("one"), token_of("two", 1)});
    EXPECT_EQ(endpoint->stage_of(runtime::sha256("one")), &endpoint->stages[0]);
    EXPECT_EQ(endpoint->stage_of(runtime::sha256("two")), &endpoint->stages[1]);
    EXPECT_EQ(endpoint->stage_of(runtime::sha256("three")), nullptr);
}

TEST(route_table, a_token_is_known_as_long_as_one_endpoint_has_it) {
    const auto both =
        table_of({endpoint_at(1, "/a", {token_of("t")}), endpoint_at(2, "/b", {token_of("t")})});
    EXPECT_TRUE(both->has_token(runtime::sha256("t")));
    const auto second = both->with({{id_of(1), nullptr}});
    EXPECT_TRUE(second->has_token(runtime::sha256("t")));
    EXPECT_FALSE(second->with({{id_of(2), nullptr}})->has_token(runtime::sha256("t")));
    EXPECT_FALSE(both->has_token(runtime::sha256("u")));
}

component_route share_of(std::uint64_t build, std::uint32_t begins_ppm, std::uint32_t ends_ppm) {
    component_route out;
    out.build = {build};
    out.share_begins_ppm = begins_ppm;
    out.share_ends_ppm = ends_ppm;
    out.served = components::without_model({build});
    return out;
}

TEST(route_table, requests_are_shared_out_by_their_ids_and_each_id_always_goes_the_same_way) {
    stage_route stage;
    stage.components = {share_of(1, 0, 900'000), share_of(2, 900'000, 1'000'000)};
    std::size_t to_second = 0;
    for (int number = 0; number < 100'000; ++number) {
        const std::string id = "request-" + std::to_string(number);
        const component_route* const first = stage.component_for(id);
        ASSERT_EQ(first, stage.component_for(id));
        if (first->build.value == 2) ++to_second;
    }
    EXPECT_GT(to_second, 9'500u);
    EXPECT_LT(to_second, 10'500u);
}

TEST(route_table, who_was_sent_to_the_new_build_stays_there_as_its_share_grows) {
    stage_route small;
    small.components = {share_of(1, 0, 800'000), share_of(2, 800'000, 1'000'000)};
    stage_route large;
    large.components = {share_of(1, 0, 300'000), share_of(2, 300'000, 1'000'000)};
    for (int number = 0; number < 10'000; ++number) {
        const std::string id = std::to_string(number);
        if (small.component_for(id)->build.value == 2) {
            ASSERT_EQ(large.component_for(id)->build.value, 2u);
        }
    }
}

TEST(route_table, a_stage_without_components_has_none_for_a_request) {
    EXPECT_EQ(stage_route().component_for("x"), nullptr);
}

}  // namespace
}  // namespace herald::api::serving
