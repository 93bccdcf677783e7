// Protects operators: a broker that lets nobody in is told of once for the whole process, whatever its many
// clients meet, and a client that is only closed is no trouble.
#include "events/log/kafka/broker_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace herald::test {
namespace {

using events::log::kafka::broker_watch;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class broker_watch_test : public ::testing::Test {
  protected:
    void attempt_fails(const int& client, const std::string& broker = "b:1") {
        watch.changed(&client, broker, "TRY_CONNECT");
        watch.changed(&client, broker, "CONNECT");
        watch.complained("[thrd:" + broker + "/1]: " + broker +
                         "/1: Connect to it failed: Connection refused");
        watch.changed(&client, broker, "DOWN");
    }
    void comes_up(const int& client, const std::string& broker = "b:1") {
        watch.changed(&client, broker, "CONNECT");
        watch.changed(&client, broker, "APIVERSION_QUERY");
        watch.changed(&client, broker, "UP");
    }
    std::vector<std::string> said() { return std::exchange(x_lines, {}); }

    const int reader = 0;
    const int producer = 0;
    broker_watch watch{[this](runtime::log_level, std::string_view event,
                              std::span<const runtime::log_field> fields) {
        std::string line(event);
        for (const runtime::log_field& each : fields)
            if (const auto* text = std::get_if<std::string_view>(&each.value); text && each.name != "since")
                line += " " + std::string(*text);
        x_lines.push_back(line);
    }};

  private:
    std::vector<std::string> x_lines;
};

TEST_F(broker_watch_test, says_once_that_a_broker_is_away_and_once_that_it_is_back) {
    comes_up(reader);
    comes_up(producer);
    for (const int* client : {&reader, &producer}) watch.changed(client, "b:1", "DOWN");
    EXPECT_THAT(said(), IsEmpty()) << "connections end when they are idle, too";
    for (int attempt = 0; attempt < 100; ++attempt)
        for (const int* client : {&reader, &producer}) attempt_fails(*client);
    EXPECT_THAT(said(), ElementsAre("kafka_broker_unreachable b:1 [thrd:b:1/1]: b:1/1: Connect to it failed: "
                                    "Connection refused"));
    comes_up(reader);
    comes_up(producer);
    EXPECT_THAT(said(), ElementsAre("kafka_broker_reachable b:1"));
}

TEST_F(broker_watch_test, speaks_of_each_broker_for_itself) {
    comes_up(reader, "b:1");
    for (int attempt = 0; attempt < 3; ++attempt) attempt_fails(reader, "c:1");
    EXPECT_THAT(said(), ElementsAre("kafka_broker_unreachable c:1 [thrd:c:1/1]: c:1/1: Connect to it failed: "
                                    "Connection refused"));
    comes_up(reader, "c:1");
    EXPECT_THAT(said(), ElementsAre("kafka_broker_reachable c:1"));
}

TEST_F(broker_watch_test, takes_a_client_that_is_closed_for_no_broker_that_is_away) {
    for (const int* client : {&reader, &producer}) watch.changed(client, "b:1", "INIT");
    for (const int* client : {&reader, &producer}) watch.changed(client, "b:1", "DOWN");
    watch.changed(&reader, "b:1", "CONNECT");
    watch.changed(&reader, "b:1", "DOWN");
    EXPECT_THAT(said(), IsEmpty());
}

TEST_F(broker_watch_test, believes_a_client_that_is_connected_more_than_one_that_is_not) {
    comes_up(reader);
    for (int attempt = 0; attempt < 10; ++attempt) attempt_fails(producer);
    EXPECT_THAT(said(), IsEmpty());
}

}  // namespace
}  // namespace herald::test
