// Protects the log in memory: each fault is what its name says, and groups deal partitions as Kafka's do.
#include "tests/log/memory/memory_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <utility>

#include "events/log/limits.hpp"
#include "events/log/topics.hpp"

namespace herald::test {
namespace {

using namespace events;
using namespace events::log;
using namespace events::log::memory;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class scripted_faults final : public memory_faults {
  public:
    batch_plan next_batch(const topic_partition&, std::size_t waiting) override {
        if (plans.empty()) return {batch_fate::accepted, waiting};
        const batch_plan plan = plans.front();
        plans.pop_front();
        return plan;
    }
    std::size_t next_answer(std::size_t waiting) override { return answers_backwards ? waiting - 1 : 0; }
    std::size_t next_poll(std::size_t wanted) override { return std::min(wanted, poll_max); }
    std::int64_t range_lag(const topic_partition&) override { return lag; }
    bool reachable() override { return reaches; }

    std::deque<batch_plan> plans;
    bool answers_backwards = false;
    std::size_t poll_max = SIZE_MAX;
    std::int64_t lag = 0;
    bool reaches = true;
};

const topic_partition promote_0{std::string(topic::promote), 0};
const topic_partition direct_0{std::string(topic::direct), 0};
const std::vector<std::string> direct_only{std::string(topic::direct)};
constexpr std::size_t all_direct = partitions_default;

class memory_log_faults : public ::testing::Test {
  protected:
    memory_log_faults() { EXPECT_TRUE(x_log.create_topics()); }

    memory_log::post_function post() {
        return [this](std::function<void()> task) { x_tasks.push_back(std::move(task)); };
    }
    void run() {
        while (!x_tasks.empty()) {
            const auto task = std::move(x_tasks.front());
            x_tasks.pop_front();
            task();
        }
    }
    append_handler answer(const std::string& name) {
        return [this, name](const result<std::int64_t>& got) {
            x_answers.push_back(name + (got ? " at " + std::to_string(*got) : " failed"));
        };
    }
    void append(producer& to, const std::string& key, const topic_partition& where = promote_0) {
        ASSERT_TRUE(to.append(where, key, "value of " + key, answer(key)));
    }
    std::vector<std::string> keys(const topic_partition& where = promote_0) {
        std::vector<std::string> found;
        for (const record& each : x_broker.records(where)) found.push_back(each.key);
        return found;
    }

    runtime::manual_clock x_clock;
    memory_broker x_broker{x_clock};
    scripted_faults x_faults;
    std::deque<std::function<void()>> x_tasks;
    memory_log x_log{x_broker, post(), &x_faults};
    std::vector<std::string> x_answers;
};

TEST_F(memory_log_faults, a_batch_is_rejected_and_the_next_one_accepted) {
    x_faults.plans = {{batch_fate::rejected, 2}};
    const auto producer = x_log.open_producer(producer_kind::ordinary);
    for (const char* key : {"a", "b", "c"}) append(*producer, key);
    run();
    EXPECT_THAT(keys(), ElementsAre("c"));
    EXPECT_THAT(x_answers, ElementsAre("a failed", "b failed", "c at 0"));
}

TEST_F(memory_log_faults, a_strict_producer_sends_nothing_after_an_error) {
    x_faults.plans = {{batch_fate::accepted, 1}, {batch_fate::answer_lost, 1}};
    const auto producer = x_log.open_producer(producer_kind::strict);
    for (const char* key : {"a", "b", "c"}) append(*producer, key);
    run();
    EXPECT_THAT(keys(), ElementsAre("a", "b"));
    EXPECT_THAT(x_answers, ElementsAre("a at 0", "b failed", "c failed"));
    EXPECT_EQ(producer->append(promote_0, "d", "v", answer("d")).error().code, error_code::aborted);
}

TEST_F(memory_log_faults, a_held_batch_lands_when_it_is_released) {
    x_faults.plans = {{batch_fate::held, 1}};
    {
        const auto producer = x_log.open_producer(producer_kind::ordinary);
        for (const char* key : {"late", "b"}) append(*producer, key);
        run();
    }
    EXPECT_THAT(x_answers, ElementsAre("late failed", "b at 0"));
    EXPECT_THAT(keys(), ElementsAre("b"));
    ASSERT_EQ(x_broker.held(), 1u);
    x_clock.advance_ms(3 * day_ms);
    x_broker.release(0);
    EXPECT_THAT(keys(), ElementsAre("b", "late"));
    EXPECT_EQ(x_broker.records(promote_0)[1].time_ms, x_clock.wall_ms());
    EXPECT_EQ(x_broker.held(), 0u);
}

TEST_F(memory_log_faults, a_batch_is_there_twice_and_acknowledged_once) {
    x_faults.plans = {{batch_fate::duplicated, 2}, {batch_fate::offset_unknown, 1}};
    const auto producer = x_log.open_producer(producer_kind::ordinary);
    for (const char* key : {"a", "b", "c"}) append(*producer, key);
    run();
    EXPECT_THAT(keys(), ElementsAre("a", "b", "a", "b", "c"));
    EXPECT_THAT(x_answers, ElementsAre("a at 0", "b at 1", "c at -1"));
}

TEST_F(memory_log_faults, what_is_never_answered_fails_when_the_producer_goes) {
    x_faults.plans = {{batch_fate::unanswered, 1}, {batch_fate::swallowed, 1}};
    auto producer = x_log.open_producer(producer_kind::ordinary);
    for (const char* key : {"in the log", "lost", "c"}) append(*producer, key);
    run();
    EXPECT_THAT(keys(), ElementsAre("in the log", "c"));
    EXPECT_THAT(x_answers, ElementsAre("c at 1"));
    producer.reset();
    EXPECT_THAT(x_answers, ElementsAre("c at 1", "in the log failed", "lost failed"));
}

TEST_F(memory_log_faults, a_strict_producer_waits_for_the_answer_to_its_batch) {
    x_faults.plans = {{batch_fate::unanswered, 1}};
    const auto producer = x_log.open_producer(producer_kind::strict);
    for (const char* key : {"a", "b"}) append(*producer, key);
    run();
    EXPECT_THAT(keys(), ElementsAre("a"));
    EXPECT_THAT(x_answers, IsEmpty());
}

TEST_F(memory_log_faults, answers_come_in_any_order) {
    x_faults.answers_backwards = true;
    const auto producer = x_log.open_producer(producer_kind::ordinary);
    for (const char* key : {"a", "b", "c"}) append(*producer, key);
    run();
    EXPECT_THAT(x_answers, ElementsAre("c at 2", "b at 1", "a at 0"));
}

TEST_F(memory_log_faults, too_much_that_is_unacknowledged_is_refused_at_once) {
    const auto producer = x_log.open_producer(producer_kind::ordinary);
    const std::string large(1024 * 1024, 'x');
    int taken = 0;
    result<void> last;
    while (last && taken < 1'000) {
        last = producer->append(promote_0, "k", large, answer("large"));
        if (last) ++taken;
    }
    EXPECT_EQ(last.error().code, error_code::resource_exhausted);
    run();
    EXPECT_EQ(x_answers.size(), static_cast<std::size_t>(taken));
    append(*producer, "again");
}

TEST_F(memory_log_faults, the_unsynced_end_is_lost_up_to_the_last_durable_append) {
    const auto producer = x_log.open_producer(producer_kind::ordinary);
    append(*producer, "safe");
    append(*producer, "durable", direct_0);
    run();
    append(*producer, "kept");
    append(*producer, "lost");
    run();
    ASSERT_EQ(x_broker.unsynced(), 2u);
    x_broker.lose_unsynced(1);
    EXPECT_THAT(keys(), ElementsAre("safe", "kept"));
    EXPECT_THAT(keys(direct_0), ElementsAre("durable"));
    append(*producer, "next");
    run();
    EXPECT_EQ(x_answers.back(), "next at 2");
}

TEST_F(memory_log_faults, commits_are_lost_with_the_unsynced_end) {
    const auto member = x_log.join(std::string(group::direct), direct_only);
    const auto events = member->poll(100, 0);
    ASSERT_EQ(events.size(), all_direct);
    const auto& first = std::get<assigned>(events[0]);
    member->commit(first.where, first.epoch, 0, "lost");
    EXPECT_EQ(x_broker.committed(std::string(group::direct), first.where)->second, "lost");
    x_broker.lose_unsynced(0);
    EXPECT_EQ(x_broker.committed(std::string(group::direct), first.where)->second, "");
}

TEST_F(memory_log_faults, a_reader_that_retention_or_truncation_overtakes_fails) {
    const auto producer = x_log.open_producer(producer_kind::ordinary);
    for (const char* key : {"a", "b", "c", "d"}) append(*producer, key);
    run();
    const auto below = x_log.open_reader(promote_0, 0);
    const auto above = x_log.open_reader(promote_0, 4);
    const auto within = x_log.open_reader(promote_0, 2);
    x_broker.trim(promote_0, 2);
    x_broker.cut(promote_0, 3);
    EXPECT_EQ(below->poll(10, 0).error().code, error_code::failed_precondition);
    EXPECT_EQ(above->poll(10, 0).error().code, error_code::failed_precondition);
    ASSERT_EQ(within->poll(10, 0)->records.size(), 1u);
    append(*producer, "regrown");
    run();
    EXPECT_EQ(within->poll(10, 0)->records.at(0).key, "regrown");
    EXPECT_EQ(x_answers.back(), "regrown at 3");
    EXPECT_EQ(above->poll(10, 0).error().code, error_code::failed_precondition) << "a failure is final";
}

TEST_F(memory_log_faults, a_range_may_be_stale_and_the_log_out_of_reach) {
    const auto producer = x_log.open_producer(producer_kind::ordinary);
    for (const char* key : {"a", "b", "c"}) append(*producer, key);
    run();
    std::vector<result<offset_range>> told;
    const auto ask = [&] {
        x_log.query_range(promote_0, [&](const result<offset_range>& got) { told.push_back(got); });
        run();
    };
    x_faults.lag = 2;
    ask();
    x_faults.reaches = false;
    ask();
    ASSERT_EQ(told.size(), 2u);
    EXPECT_EQ(told[0]->next, 1);
    EXPECT_EQ(told[1].error().code, error_code::unavailable);
    EXPECT_EQ(x_log.open_reader(promote_0, 0)->poll(10, 0).error().code, error_code::unavailable);
}

TEST_F(memory_log_faults, a_poll_that_leaves_something_calls_again) {
    x_faults.poll_max = 1;
    const auto producer = x_log.open_producer(producer_kind::ordinary);
    for (const char* key : {"a", "b", "c"}) append(*producer, key);
    run();
    int calls = 0;
    const auto reader = x_log.open_reader(promote_0, 0);
    reader->on_ready([&] { ++calls; });
    for (int i = 1; i <= 3; ++i) {
        run();
        EXPECT_EQ(calls, i);
        EXPECT_EQ(reader->poll(10, 0)->records.size(), 1u);
    }
    run();
    EXPECT_EQ(calls, 3);
}

TEST_F(memory_log_faults, a_process_that_died_sends_nothing_more) {
    auto died = std::make_unique<memory_log>(x_broker, post());
    auto producer = died->open_producer(producer_kind::ordinary);
    append(*producer, "unsent");
    died->crash();
    run();
    producer.reset();
    EXPECT_THAT(keys(), IsEmpty());
    EXPECT_THAT(x_answers, ElementsAre("unsent failed"));
}

// ---- groups

class memory_log_groups : public memory_log_faults {
  protected:
    /// Polls once and returns the events for direct_0 only.
    std::vector<std::string> told(group_member& member) {
        std::vector<std::string> found;
        for (const member_event& event : member.poll(100, 0)) {
            if (const auto* got = std::get_if<assigned>(&event); got != nullptr && got->where == direct_0) {
                found.push_back("assigned at " + std::to_string(got->next_offset));
                x_epoch = got->epoch;
            } else if (const auto* wanted = std::get_if<recalled>(&event);
                       wanted != nullptr && wanted->where == direct_0) {
                found.push_back("recalled");
            } else if (const auto* lost = std::get_if<revoked>(&event);
                       lost != nullptr && lost->where == direct_0) {
                found.push_back("revoked");
            } else if (const auto* each = std::get_if<consumed>(&event)) {
                found.push_back(each->what.key);
            }
        }
        return found;
    }
    static void release_all(group_member& member, const std::vector<member_event>& events) {
        for (const member_event& event : events)
            if (const auto* wanted = std::get_if<recalled>(&event))
                member.release(wanted->where, wanted->epoch);
    }
    std::int64_t committed() { return x_broker.committed(name, direct_0)->first; }

    const std::string name{group::direct};
    std::uint64_t x_epoch = 0;  // of the newest assignment of direct_0
};

TEST_F(memory_log_groups, partitions_are_dealt_again_when_a_member_joins_or_leaves) {
    const auto first = x_log.join(name, direct_only);
    EXPECT_EQ(first->poll(100, 0).size(), all_direct);
    auto second = x_log.join(name, direct_only);
    const auto wanted = first->poll(100, 0);
    EXPECT_EQ(wanted.size(), all_direct / 2);
    EXPECT_THAT(first->poll(100, 0), IsEmpty());
    EXPECT_THAT(second->poll(100, 0), IsEmpty()) << "the owner has not let go";
    release_all(*first, wanted);
    EXPECT_EQ(second->poll(100, 0).size(), all_direct / 2);
    second.reset();
    EXPECT_EQ(first->poll(100, 0).size(), all_direct / 2);
}

TEST_F(memory_log_groups, an_owner_may_commit_until_it_releases) {
    const auto producer = x_log.open_producer(producer_kind::ordinary);
    for (const char* key : {"a", "b"}) append(*producer, key, direct_0);
    run();
    x_broker.rebalance_by_itself(false);
    const auto first = x_log.join(name, direct_only);
    const auto second = x_log.join(name, direct_only);
    const auto ids = x_broker.members(name);
    x_broker.move(name, direct_0, ids[0]);
    EXPECT_THAT(told(*first), ElementsAre("assigned at 0", "a", "b"));
    const std::uint64_t epoch = x_epoch;
    x_broker.move(name, direct_0, ids[1]);
    EXPECT_THAT(told(*second), IsEmpty());
    EXPECT_THAT(told(*first), ElementsAre("recalled"));
    EXPECT_THAT(told(*first), IsEmpty());
    EXPECT_EQ(x_broker.owner(name, direct_0), ids[0]);
    first->commit(direct_0, epoch, 1, "");
    first->release(direct_0, epoch - 1);
    EXPECT_EQ(x_broker.owner(name, direct_0), ids[0]) << "another epoch";
    first->release(direct_0, epoch);
    EXPECT_THAT(told(*first), IsEmpty());
    EXPECT_THAT(told(*second), ElementsAre("assigned at 1", "b"));
    first->commit(direct_0, epoch, 2, "too late");
    EXPECT_EQ(committed(), 1);
}

TEST_F(memory_log_groups, what_is_not_released_in_time_is_revoked_and_may_be_committed_until_the_next_poll) {
    x_broker.rebalance_by_itself(false);
    const auto first = x_log.join(name, direct_only);
    const auto second = x_log.join(name, direct_only);
    const auto ids = x_broker.members(name);
    x_broker.move(name, direct_0, ids[0]);
    EXPECT_THAT(told(*first), ElementsAre("assigned at 0"));
    const std::uint64_t epoch = x_epoch;
    x_broker.move(name, direct_0, ids[1]);
    EXPECT_THAT(told(*first), ElementsAre("recalled"));
    x_clock.advance_ms(limits::recall_ms_max - 1);
    EXPECT_THAT(told(*first), IsEmpty());
    x_clock.advance_ms(1);
    EXPECT_THAT(told(*first), ElementsAre("revoked"));
    EXPECT_THAT(told(*second), IsEmpty());
    first->commit(direct_0, epoch, 0, "at last");
    EXPECT_THAT(told(*first), IsEmpty());
    EXPECT_THAT(told(*second), ElementsAre("assigned at 0"));
    EXPECT_EQ(x_broker.committed(name, direct_0)->second, "at last");
}

TEST_F(memory_log_groups, an_owner_may_regain_what_it_lost_under_another_epoch) {
    x_broker.rebalance_by_itself(false);
    const auto member = x_log.join(name, direct_only);
    const member_id id = x_broker.members(name).at(0);
    x_broker.move(name, direct_0, id);
    EXPECT_THAT(told(*member), ElementsAre("assigned at 0"));
    const std::uint64_t before = x_epoch;
    x_broker.move(name, direct_0, id);
    EXPECT_THAT(told(*member), ElementsAre("recalled"));
    member->release(direct_0, before);
    EXPECT_THAT(told(*member), ElementsAre("assigned at 0"));
    EXPECT_GT(x_epoch, before);
}

TEST_F(memory_log_groups, an_expelled_member_commits_in_vain_and_joins_again_when_it_polls) {
    const auto slow = x_log.join(name, direct_only);
    EXPECT_THAT(told(*slow), ElementsAre("assigned at 0"));
    const std::uint64_t epoch = x_epoch;
    const auto other = x_log.join(name, direct_only);
    x_broker.expel(name, x_broker.members(name).at(0));
    slow->commit(direct_0, epoch, 1, "of a member that was expelled");
    EXPECT_EQ(committed(), 0);
    EXPECT_EQ(other->poll(100, 0).size(), all_direct);
    EXPECT_THAT(told(*slow), ElementsAre("revoked"));
    const auto wanted = other->poll(100, 0);
    EXPECT_EQ(wanted.size(), all_direct / 2);
    release_all(*other, wanted);
    EXPECT_EQ(slow->poll(100, 0).size(), all_direct / 2);
}

TEST_F(memory_log_groups, a_member_that_died_keeps_its_partitions_until_it_is_expelled) {
    memory_log died(x_broker, post());
    auto dead = died.join(name, direct_only);
    dead->poll(100, 0);
    died.crash();
    dead.reset();
    const auto heir = x_log.join(name, direct_only);
    const auto ids = x_broker.members(name);
    EXPECT_EQ(heir->poll(100, 0).size(), 0u);
    EXPECT_EQ(x_broker.owner(name, direct_0), ids[0]);
    x_broker.expel(name, ids[0]);
    EXPECT_EQ(heir->poll(100, 0).size(), all_direct);
    EXPECT_THAT(x_broker.members(name), ElementsAre(ids[1]));
}

TEST_F(memory_log_groups, a_group_without_commits_fails) {
    x_broker.forget_commits(name);
    const auto member = x_log.join(name, direct_only);
    const auto events = member->poll(100, 0);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(std::get<member_failure>(events[0]).reason.code, error_code::failed_precondition);
    EXPECT_THAT(member->poll(100, 0), IsEmpty());
}

TEST_F(memory_log_groups, a_commit_below_the_log_s_start_fails) {
    const auto producer = x_log.open_producer(producer_kind::ordinary);
    for (const char* key : {"a", "b"}) append(*producer, key, direct_0);
    run();
    x_broker.trim(direct_0, 1);
    const auto member = x_log.join(name, direct_only);
    const auto events = member->poll(100, 0);
    ASSERT_FALSE(events.empty());
    EXPECT_TRUE(std::holds_alternative<member_failure>(events.back()));
}

}  // namespace
}  // namespace herald::test
