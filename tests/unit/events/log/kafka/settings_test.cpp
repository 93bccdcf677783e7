// Protects the settings that Herald's guarantees depend on: each kind of client has them, and no operator can
// change them.
#include "events/log/kafka/settings.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace herald::test {
namespace {

using namespace events;
using namespace events::log::kafka;
using namespace events::log::kafka;

/// As librdkafka treats them: the last one wins.
std::map<std::string, std::string> in_effect(client_kind kind, const kafka_options& options = {}) {
    std::map<std::string, std::string> all;
    for (const auto& [name, value] : settings_of(kind, options)) all[name] = value;
    return all;
}

TEST(kafka_settings, every_producer_is_idempotent_and_waits_for_all_replicas) {
    for (const client_kind kind : {client_kind::producer, client_kind::strict_producer}) {
        EXPECT_EQ(in_effect(kind)["enable.idempotence"], "true");
        EXPECT_EQ(in_effect(kind)["acks"], "all");
    }
}

TEST(kafka_settings, a_strict_producer_has_one_batch_on_its_way_and_lets_none_expire) {
    EXPECT_EQ(in_effect(client_kind::strict_producer)["max.in.flight"], "1");
    EXPECT_EQ(in_effect(client_kind::strict_producer)["message.timeout.ms"], "0");
}

TEST(kafka_settings, no_consumer_commits_or_jumps_by_itself) {
    for (const client_kind kind : {client_kind::reader, client_kind::member}) {
        EXPECT_EQ(in_effect(kind)["enable.auto.commit"], "false");
        EXPECT_EQ(in_effect(kind)["enable.auto.offset.store"], "false");
        EXPECT_EQ(in_effect(kind)["auto.offset.reset"], "error");
    }
}

TEST(kafka_settings, heartbeats_are_several_to_a_session) {
    for (const std::int64_t session_ms : {3'000, 6'000, 10'000, 45'000}) {
        kafka_options options;
        options.session_timeout_ms = session_ms;
        auto all = in_effect(client_kind::member, options);
        EXPECT_LE(std::stoll(all["heartbeat.interval.ms"]) * 3, session_ms);
        EXPECT_GE(std::stoll(all["max.poll.interval.ms"]), session_ms);
    }
}

TEST(kafka_settings, a_member_has_a_name_and_a_long_session_only_if_it_was_given_one) {
    EXPECT_FALSE(in_effect(client_kind::member).contains("group.instance.id"));
    EXPECT_EQ(in_effect(client_kind::member)["session.timeout.ms"], "6000");
    kafka_options options;
    options.member_name = "worker-3";
    EXPECT_EQ(in_effect(client_kind::member, options)["group.instance.id"], "worker-3");
    EXPECT_EQ(in_effect(client_kind::member, options)["session.timeout.ms"], "30000");
    EXPECT_FALSE(in_effect(client_kind::reader, options).contains("group.instance.id"));
}

TEST(kafka_settings, no_client_makes_a_topic_by_asking_for_it) {
    for (const client_kind kind : {client_kind::producer, client_kind::strict_producer, client_kind::reader,
                                   client_kind::member, client_kind::admin})
        EXPECT_EQ(in_effect(kind)["allow.auto.create.topics"], "false");
}

TEST(kafka_settings, what_an_operator_adds_is_in_effect) {
    kafka_options options;
    options.bootstrap_servers = "kafka:9092";
    options.properties = {{"security.protocol", "ssl"}, {"socket.timeout.ms", "7000"}};
    auto all = in_effect(client_kind::reader, options);
    EXPECT_EQ(all["bootstrap.servers"], "kafka:9092");
    EXPECT_EQ(all["security.protocol"], "ssl");
    EXPECT_EQ(all["socket.timeout.ms"], "7000");
}

TEST(kafka_settings, an_operator_cannot_change_what_the_promises_rest_on) {
    for (const char* name : {"acks", "allow.auto.create.topics", "enable.idempotence", "message.timeout.ms",
                             "max.in.flight", "auto.offset.reset", "enable.auto.commit", "group.id",
                             "group.instance.id", "transactional.id", "partition.assignment.strategy"}) {
        const result<void> allowed = check_properties({{"client.id", "mine"}, {name, "x"}});
        ASSERT_FALSE(allowed) << name;
        EXPECT_NE(allowed.error().message.find(name), std::string::npos) << allowed.error().message;
    }
    EXPECT_TRUE(check_properties({{"sasl.mechanism", "PLAIN"}}));
}

TEST(kafka_settings, a_wrong_property_is_refused_by_name_before_anything_is_asked) {
    kafka_options options;
    options.bootstrap_servers = "127.0.0.1:1";
    options.properties = {{"no.such.property", "1"}};
    const auto made = make_kafka_log(options);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, error_code::invalid_argument);
    EXPECT_NE(made.error().message.find("no.such.property"), std::string::npos) << made.error().message;
}

}  // namespace
}  // namespace herald::test
