// Protects callers from waiting for ever: a request is answered by the deadline of its row, whatever its
// handler waits for, and what comes after that does no harm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/api/node_without_sockets.hpp"

namespace herald::test {
namespace {

using api::calls::route;
using testing::HasSubstr;

class deadlines : public testing::Test {
  protected:
    /// As if every row had this deadline; the program's own are far away.
    void answer_within(std::int64_t ms) {
        for (route& row : table) row.deadline_ms = ms;
    }
    void answer_in_time() { answer_within(limits::write_deadline_ms); }

    static constexpr std::int64_t soon_ms = 20;
    const std::string models = "/api/v1/registry/workspaces/Default/registered_models";
    const std::string myself = "/api/v1/uac-proxy/uac/getCurrentUser";
    std::vector<route> table{api::routes::all_routes().begin(), api::routes::all_routes().end()};
};

class alone : public deadlines {
  protected:
    node_without_sockets node{storage::node::node_kind::standalone, table};
};

class clustered : public deadlines {
  protected:
    node_without_sockets node{storage::node::node_kind::cluster, table};
};

TEST_F(alone, a_write_without_a_key_whose_outcome_does_not_come_is_500_since_it_may_take_effect) {
    node.is_deaf();
    answer_within(soon_ms);
    const reply late = node.post(models, R"({"name":"late"})");
    EXPECT_EQ(late.status(), 500);
    EXPECT_THAT(late.at("message"), HasSubstr("outcome unknown"));
    node.hears_again();
    answer_in_time();
    EXPECT_EQ(node.get(models + "/late").status(), 200) << "it took effect, and its outcome was dropped";
}

TEST_F(alone, a_write_with_a_key_is_503_and_its_repeat_gets_the_first_outcome) {
    node.is_deaf();
    answer_within(soon_ms);
    const std::string key = "Idempotency-Key: k\r\n";
    const reply late = node.post(models, R"({"name":"late"})", key);
    EXPECT_EQ(late.status(), 503);
    EXPECT_THAT(late.at("message"), HasSubstr("repeat the request with the same Idempotency-Key"));
    EXPECT_NE(late.header("retry-after"), "");
    node.hears_again();
    answer_in_time();
    const reply again = node.post(models, R"({"name":"late"})", key);
    EXPECT_EQ(again.status(), 200) << again.body();
    EXPECT_EQ(again.at("registered_model.id"), node.get(models + "/late").at("registered_model.id"));
}

TEST_F(clustered, a_read_that_waits_for_the_log_is_504) {
    ASSERT_EQ(node.get(myself).status(), 200);
    node.is_deaf();
    answer_within(soon_ms);
    const reply late = node.get(myself);
    EXPECT_EQ(late.status(), 504) << late.body();
    EXPECT_EQ(late.at("code"), "4");
    EXPECT_THAT(late.at("message"), HasSubstr("no answer within 20 ms"));
    node.hears_again();
    answer_in_time();
    EXPECT_EQ(node.get(myself).status(), 200);
}

TEST_F(alone, what_comes_too_late_is_dropped) {
    ASSERT_EQ(node.post("/api/v1/uac-proxy/events/createWebhook",
                        R"({"name":"w","location":"https://example.org/","event_types":["CREATE"]})")
                  .status(),
              200);
    node.tests.is_silent = true;
    answer_within(soon_ms);
    const reply late = node.post("/api/v1/uac-proxy/events/triggerTest", R"({"webhook_id":1})");
    EXPECT_EQ(late.status(), 400) << late.body();  // 504 would make the published client send it again
    EXPECT_THAT(late.at("message"), HasSubstr("no answer within 20 ms"));
    ASSERT_EQ(node.tests.waiting.size(), 1u);
    node.tests.waiting.front()(schemas::attempt{});
    EXPECT_EQ(node.get(myself).status(), 200);
}

TEST_F(alone, a_read_that_waits_too_long_for_a_thread_does_not_begin) {
    answer_within(0);
    const reply late = node.post(models + "/find", "{}");
    EXPECT_EQ(late.status(), 504) << late.body();
    EXPECT_EQ(node.get(myself).status(), 200) << "what needs no waiting is never late";
}

TEST_F(deadlines, every_row_has_one_and_writes_wait_longer_than_reads) {
    for (const route& row : api::routes::all_routes()) {
        EXPECT_GT(row.deadline_ms, 0) << row.name;
        const auto* const read = row.as<api::calls::read_row>();
        const bool writes = row.is<api::calls::write_row>() || row.is<api::calls::streamed_row>() ||
                            row.is<api::calls::guest_row>();
        const bool reads_long = row.is<api::calls::sliced_row>() || (read && read->is_long);
        EXPECT_EQ(writes, row.deadline_ms == limits::write_deadline_ms) << row.name;
        EXPECT_EQ(reads_long, row.deadline_ms == limits::long_read_deadline_ms) << row.name;
    }
}

}  // namespace
}  // namespace herald::test
