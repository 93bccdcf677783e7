// Protects who hears what (wire.md §7 "Settings of a webhook"): a filter lets through exactly the events
// whose bodies meet all its conditions, and one that no event can meet is refused when it is set.
#include "schemas/event_filter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "schemas/answers/events.hpp"
#include "schemas/event_kinds.hpp"
#include "schemas/limits.hpp"
#include "schemas/views.hpp"

namespace herald::test {
namespace {

using schemas::event_type;
using schemas::filter_condition;
using schemas::find_operator;

constexpr const char* example_body =
    R"({"action":"requested","transition":{"id":12,"state":"PENDING","share":0.25,"comment":"a,b"},)"
    R"("attributes":[{"key":"accuracy","value":"0.93"},{"key":"data.set","value":"2026"},)"
    R"({"key":"tags","value":["a",2]}],"owner":null,"is_open":true,"big":18446744073709551616})";

bool passes(const std::string& path, find_operator how, const std::string& value) {
    const std::vector<filter_condition> one{{path, how, {value}}};
    return schemas::passes(one, *schemas::parse_json(example_body));
}

TEST(event_filter, compares_numbers_as_numbers_and_texts_as_texts) {
    using enum find_operator;
    EXPECT_TRUE(passes("action", eq, R"("requested")"));
    EXPECT_FALSE(passes("action", eq, R"("Requested")"));
    EXPECT_TRUE(passes("transition.id", eq, "12.0"));
    EXPECT_FALSE(passes("transition.id", eq, R"("12")")) << "another kind";
    EXPECT_TRUE(passes("transition.id", ne, R"("12")"));
    EXPECT_TRUE(passes("transition.share", gte, "0.25"));
    EXPECT_FALSE(passes("transition.share", gt, "0.25"));
    EXPECT_TRUE(passes("transition.id", lt, "100")) << "not as texts";
    EXPECT_TRUE(passes("big", gt, "18446744073709551615"));
    EXPECT_TRUE(passes("action", lt, R"("s")"));
    EXPECT_FALSE(passes("is_open", gt, "0")) << "no order between kinds";
    EXPECT_FALSE(passes("is_open", lte, "0"));
    EXPECT_TRUE(passes("is_open", eq, "true"));
    EXPECT_TRUE(passes("owner", eq, "null"));
}

TEST(event_filter, looks_into_texts_lists_and_attributes) {
    using enum find_operator;
    EXPECT_TRUE(passes("transition.comment", contain, R"("a,")"));
    EXPECT_TRUE(passes("transition.comment", not_contain, R"("c")"));
    EXPECT_TRUE(passes("transition.state", in, R"(["APPROVED","PENDING"])"));
    EXPECT_FALSE(passes("transition.state", not_in, R"(["APPROVED","PENDING"])"));
    EXPECT_TRUE(passes("attributes.tags", contain, "2"));
    EXPECT_FALSE(passes("attributes.tags", contain, "3"));
    EXPECT_TRUE(passes("attributes.accuracy", gt, "0.9")) << "PROMOTE has numbers as texts";
    EXPECT_FALSE(passes("attributes.accuracy", gt, "0.95"));
    EXPECT_TRUE(passes("attributes.accuracy", eq, R"("0.93")"));
    EXPECT_TRUE(passes("attributes.data.set", eq, "2026")) << "a key with a dot";
}

TEST(event_filter, a_member_that_is_not_there_meets_only_what_it_is_not) {
    using enum find_operator;
    for (const find_operator how : {eq, gt, gte, lt, lte, contain, in, not_in})
        EXPECT_FALSE(passes("transition.nothing", how, how == in || how == not_in ? "[1]" : "1"))
            << name_of(how);
    EXPECT_TRUE(passes("transition.nothing", ne, "1"));
    EXPECT_TRUE(passes("transition.nothing", not_contain, R"("a")"));
    EXPECT_FALSE(passes("attributes.nothing", eq, "null"));
    EXPECT_TRUE(passes("action.deeper", ne, "1"));
}

TEST(event_filter, needs_all_conditions) {
    const std::vector<filter_condition> both{{"action", find_operator::eq, {R"("requested")"}},
                                             {"transition.id", find_operator::eq, {"13"}}};
    EXPECT_FALSE(schemas::passes(both, *schemas::parse_json(example_body)));
    EXPECT_TRUE(schemas::passes({}, *schemas::parse_json(example_body)));
}

std::string refusal(std::vector<filter_condition> filter, std::vector<event_type> types, bool all = false) {
    schemas::webhook_settings settings;
    settings.event_types = std::move(types);
    settings.all_events = all;
    settings.delivery.filter = std::move(filter);
    const auto good = schemas::check_filter(settings);
    return good ? "" : good.error().message;
}

TEST(event_filter, is_refused_when_no_event_could_meet_it) {
    using enum find_operator;
    const filter_condition fine{"stage", eq, {R"("PRODUCTION")"}};
    EXPECT_EQ(refusal({fine}, {event_type::promote}), "");
    EXPECT_THAT(refusal({fine}, {event_type::transition}),
                testing::HasSubstr("filter[0].path begins with \"stage\""));
    EXPECT_EQ(refusal({fine}, {}, true), "");
    EXPECT_THAT(refusal({{"condition", eq, {"1"}}}, {}, true), testing::HasSubstr("condition"))
        << "all_events is not enough for WEBHOOK_HEALTH";
    EXPECT_EQ(refusal({{"condition", eq, {"1"}}}, {event_type::webhook_health}), "");
    EXPECT_THAT(refusal({{"", eq, {"1"}}}, {event_type::promote}), testing::HasSubstr("path is 0 bytes"));
    for (const char* path : {".stage", "stage.", "attributes..a", "attributes.1.2.3.4.5.6.7.8"})
        EXPECT_NE(refusal({{path, eq, {"1"}}}, {event_type::promote}), "") << path;
    EXPECT_EQ(refusal({{"attributes.1.2.3.4.5.6.7", eq, {"1"}}}, {event_type::promote}), "");
    EXPECT_THAT(refusal({{"stage", in, {"1"}}}, {event_type::promote}), testing::HasSubstr("take an array"));
    EXPECT_THAT(refusal({{"stage", gt, {"true"}}}, {event_type::promote}),
                testing::HasSubstr("takes a number or a string"));
    EXPECT_THAT(refusal({{"stage", eq, {""}}}, {event_type::promote}), testing::HasSubstr("is not JSON"));
    EXPECT_THAT(refusal(std::vector(limits::filter_conditions_max + 1, fine), {event_type::promote}),
                testing::HasSubstr("at most 8"));
    const std::string long_text = '"' + std::string(limits::filter_value_bytes_max, 'x') + '"';
    EXPECT_THAT(refusal({{"stage", eq, {long_text}}}, {event_type::promote}),
                testing::HasSubstr("bytes long"));
}

/// The members that a type describes are those that a filter may begin with.
template <class Event>
void expect_members_of(event_type type) {
    Event made;
    Event::describe(made, [&](unsigned, std::string_view name, const auto&, auto...) {
        EXPECT_EQ(refusal({{std::string(name), find_operator::eq, {"1"}}}, {type}), "") << name;
    });
}

TEST(event_filter, may_begin_with_each_member_of_a_body) {
    using namespace schemas::answers;
    expect_members_of<promote_event>(event_type::promote);
    expect_members_of<request_scan_event>(event_type::request_scan);
    expect_members_of<transition_event>(event_type::transition);
    expect_members_of<webhook_health_event>(event_type::webhook_health);
    expect_members_of<resource_event>(event_type::update);
}

}  // namespace
}  // namespace herald::test
