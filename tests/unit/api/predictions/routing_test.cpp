// Protects who is answered by which model: path, token, version, safety and lease are judged in this order,
// and only what another node may know better waits for the log.
#include "api/predictions/routing.hpp"

#include "api/predictions/limits.hpp"
#include "tests/unit/api/predictions/tensors_of_tests.hpp"
#include "tests/unit/api/serving/serving_parts.hpp"

namespace herald::test {
namespace {

using namespace api::predictions;
using api::serving::component_route;
using api::serving::endpoint_route;
using api::serving::route_table;
using runtime::http::server::header_view;

constexpr std::int64_t lease_ms = std::int64_t{1} << 60;  // of keeping_node

class routing : public testing::Test {
  protected:
    routing() : gate(time), book(1) {
        gate.begin(node);
        book.set_known();
        endpoint("/team/churn.v2", "team.churn.v2", 1, {"good"});
        endpoint("/other", "other", 2, {"others"});
        show();
    }

    /// With one stage, whose only component serves build `number` of version 10 + number.
    void endpoint(const std::string& path, const std::string& v2_name, std::uint8_t number,
                  const std::vector<std::string>& tokens) {
        auto made = std::make_shared<endpoint_route>();
        made->id[15] = number;
        made->path = path;
        made->v2_name = v2_name;
        for (const auto& value : tokens) made->tokens.push_back({runtime::sha256(value), 0});
        std::ranges::sort(made->tokens, {}, &api::serving::token_route::hash);
        component_route component;
        component.build = {number};
        component.version_number = 10u + number;
        component.share_ends_ppm = 1'000'000;
        component.safety = gate.safety_of(component.build);
        component.served = api::serving::components::without_model(component.build);
        made->stages.emplace_back().name = "production";
        made->stages[0].components.push_back(component);
        endpoints[number] = made;
    }
    void load(std::uint8_t number) {
        component_of(number).served->set_model({nullptr, std::make_shared<silent_model>()}, nullptr);
    }
    component_route& component_of(std::uint8_t number) { return endpoints[number]->stages[0].components[0]; }
    void show() {
        std::vector<route_table::change> changes;
        for (const auto& [number, each] : endpoints) changes.push_back({each->id, each});
        book.store(route_table().with(changes));
    }

    std::variant<routed, unrouted> ask(std::string_view path, std::optional<std::string_view> token) {
        const std::vector<header_view> headers{{"ACCESS-token", token.value_or("")}};
        runtime::http::server::request received;
        if (token) received.headers = headers;
        received.request_id = "r";
        const auto asked = parsed_path(path);
        EXPECT_TRUE(asked) << path;
        return route(book, gate, received, *asked);
    }
    void expect_routed(std::string_view path, std::string_view token, std::uint64_t build) {
        const auto found = ask(path, token);
        const routed* const good = std::get_if<routed>(&found);
        ASSERT_TRUE(good) << path << ": " << std::get<unrouted>(found).why.message;
        EXPECT_EQ(good->component->build.value, build) << path;
        EXPECT_TRUE(std::ranges::any_of(good->endpoint->stages[0].components, [&](const auto& each) {
            return &each == good->component;
        })) << path;
    }
    void expect_unrouted(std::string_view path, std::optional<std::string_view> token, error_code code,
                         const std::vector<std::string>& texts, bool rests_on_state = false) {
        const auto found = ask(path, token);
        const unrouted* const refused = std::get_if<unrouted>(&found);
        ASSERT_TRUE(refused) << path;
        EXPECT_EQ(refused->why.code, code) << path << ": " << refused->why.message;
        for (const std::string& text : texts)
            EXPECT_THAT(refused->why.message, testing::HasSubstr(text)) << path;
        EXPECT_EQ(refused->rests_on_state, rests_on_state) << path << ": " << refused->why.message;
    }

    runtime::manual_clock time;
    keeping_node node;
    api::serving::serving_gate gate;
    api::serving::route_book book;
    std::map<std::uint8_t, std::shared_ptr<endpoint_route>> endpoints;
};

TEST_F(routing, leads_to_the_component_by_path_and_by_the_name_with_dots) {
    load(1);
    for (const char* const path : {"/api/v1/predict/team/churn.v2", "/api/v1/batch-predict/team/churn.v2",
                                   "/v2/models/team.churn.v2/infer", "/v2/models/team.churn.v2",
                                   "/v2/models/team.churn.v2/versions/11/infer"})
        expect_routed(path, "good", 1);
}

TEST_F(routing, finds_no_endpoint_by_another_spelling) {
    load(1);
    for (const char* const path :
         {"/api/v1/predict/none", "/api/v1/predict/team", "/api/v1/predict/team/churn.v2/",
          "/api/v1/predict/team.churn.v2", "/api/v1/predict//team/churn.v2",
          "/api/v1/predict/team%2Fchurn.v2", "/api/v1/predict/TEAM/churn.v2", "/v2/models/team/infer",
          "/v2/models/churn.v2"})
        expect_unrouted(path, "good", error_code::not_found, {"there is no"}, true);
}

TEST_F(routing, refuses_tokens_that_are_missing_unknown_or_of_another_endpoint) {
    load(1);
    const char* const path = "/api/v1/predict/team/churn.v2";
    expect_unrouted(path, {}, error_code::unauthenticated, {"Access-token", "missing", "/team/churn.v2"});
    expect_unrouted(path, "", error_code::unauthenticated, {"missing"});
    expect_unrouted(path, "wrong", error_code::unauthenticated, {"not valid", "expired"}, true);
    expect_unrouted(path, "Good", error_code::unauthenticated, {"not valid"}, true);
    expect_unrouted(path, "others", error_code::permission_denied, {"another endpoint", "/team/churn.v2"},
                    true);
    expect_unrouted(path, std::string(limits::access_token_sent_bytes_max + 1, 'a'),
                    error_code::unauthenticated, {"not valid"});
    expect_unrouted(path, std::string(limits::access_token_sent_bytes_max, 'a'), error_code::unauthenticated,
                    {"not valid"}, true);
}

TEST_F(routing, serves_no_other_version_than_the_one_that_is_named) {
    load(1);
    for (const char* const version : {"12", "1", "011", "x"})
        expect_unrouted("/v2/models/team.churn.v2/versions/" + std::string(version), "good",
                        error_code::not_found, {"version " + std::string(version), "team.churn.v2", "11"},
                        true);
}

TEST_F(routing, chooses_the_version_that_is_named_whatever_its_share) {
    load(1);
    component_route canary = component_of(1);
    canary.build = {7};
    canary.version_number = 17;
    canary.safety = gate.safety_of(canary.build);
    component_of(1).share_ends_ppm = 500'000;
    endpoints[1]->stages[0].components.push_back(canary);
    expect_routed("/v2/models/team.churn.v2/versions/11/infer", "good", 1);
    expect_routed("/v2/models/team.churn.v2/versions/17/infer", "good", 7);
}

TEST_F(routing, says_why_a_build_cannot_answer_yet) {
    const char* const path = "/api/v1/predict/team/churn.v2";
    expect_unrouted(path, "good", error_code::unavailable, {"build 1", "not loaded"});
    component_of(1).served->set_trouble("the disk is full");
    expect_unrouted(path, "good", error_code::unavailable, {"build 1", "the disk is full"});
    load(1);
    expect_routed(path, "good", 1);
}

TEST_F(routing, says_that_nothing_is_deployed_and_which_build_failed_so_that_nobody_repeats_it) {
    const char* const path = "/api/v1/predict/team/churn.v2";
    endpoints[1]->stages[0].components.clear();
    expect_unrouted(path, "good", error_code::failed_precondition,
                    {"nothing has been deployed", "production", "/team/churn.v2 yet"}, true);
    endpoints[1]->stages[0].failure = "build 7: its operator Foo is not known";
    expect_unrouted(path, "good", error_code::failed_precondition,
                    {"nothing has been deployed", "build 7: its operator Foo is not known"}, true);
}

TEST_F(routing, never_leads_to_a_build_that_is_unsafe) {
    load(1);
    gate.safety_of({1})->set_unsafe({44});
    for (const char* const path :
         {"/api/v1/predict/team/churn.v2", "/v2/models/team.churn.v2/versions/11/infer"})
        expect_unrouted(path, "good", error_code::permission_denied, {"scan 44", "build 1", "unsafe"}, true);
    load(2);
    expect_routed("/api/v1/predict/other", "others", 2);
}

TEST_F(routing, leads_nowhere_without_a_lease_or_before_the_log_is_known) {
    load(1);
    const char* const path = "/api/v1/predict/team/churn.v2";
    api::serving::route_book unread(1);
    unread.store(book.newest());
    runtime::http::server::request received;
    const auto found = route(unread, gate, received, *parsed_path(path));
    EXPECT_EQ(std::get<unrouted>(found).why.code, error_code::unavailable);
    EXPECT_FALSE(std::get<unrouted>(found).rests_on_state);
    time.advance_ms(lease_ms - time.steady_ms() - 1);
    expect_routed(path, "good", 1);
    time.advance_ms(1);
    expect_unrouted(path, "good", error_code::unavailable, {"cut off from the log"});
    expect_unrouted("/api/v1/predict/none", "good", error_code::unavailable, {"cut off from the log"});
}

TEST_F(routing, tells_with_a_refusal_what_is_known_of_the_endpoint) {
    const auto none = ask("/api/v1/predict/none", "good");
    EXPECT_FALSE(std::get<unrouted>(none).endpoint);
    const auto stranger = ask("/api/v1/predict/other", "wrong");
    EXPECT_EQ(std::get<unrouted>(stranger).endpoint->path, "/other");
    EXPECT_FALSE(std::get<unrouted>(stranger).component);
    const auto unloaded = ask("/api/v1/predict/other", "others");
    EXPECT_EQ(std::get<unrouted>(unloaded).component->build.value, 2u);
}

}  // namespace
}  // namespace herald::test
