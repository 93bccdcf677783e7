// Protects takeover and revocation on a real Kafka: each record reaches some member, and a group resumes
// where it committed, whoever leaves or dies.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <set>

#include "events/log/limits.hpp"
#include "events/log/topics.hpp"
#include "tests/broker/broker.hpp"

namespace herald::test {
namespace {

using namespace events;
using namespace events::log;

const std::string group{group::direct};
const std::string direct{topic::direct};

/// Polls a member and keeps what it reported.
struct listener {
    std::unique_ptr<group_member> member;
    std::map<topic_partition, assigned> mine;
    std::map<topic_partition, std::uint64_t> recalls;  // not released yet
    bool consents = true;                              // releases at once
    std::map<topic_partition, std::uint64_t> lost;     // its last epoch
    std::vector<consumed> records;
    std::vector<error> failures;

    void poll() {
        for (const member_event& event : member->poll(100, 20)) {
            if (const auto* got = std::get_if<assigned>(&event)) mine[got->where] = *got;
            if (const auto* wanted = std::get_if<recalled>(&event)) {
                recalls[wanted->where] = wanted->epoch;
                if (consents) release(wanted->where);
            }
            if (const auto* gone = std::get_if<revoked>(&event)) {
                mine.erase(gone->where);
                recalls.erase(gone->where);
                lost[gone->where] = gone->epoch;
            }
            if (const auto* taken = std::get_if<consumed>(&event)) records.push_back(*taken);
            if (const auto* failed = std::get_if<member_failure>(&event)) failures.push_back(failed->reason);
        }
    }
    void release(const topic_partition& where) {
        mine.erase(where);
        lost[where] = recalls.at(where);
        member->release(where, recalls.at(where));
        recalls.erase(where);
    }
    bool has(const std::string& value) const {
        for (const consumed& each : records)
            if (each.what.value == value) return true;
        return false;
    }
};

/// kafka_member as a process; the lines that it prints are counted.
class member_process {
  public:
    member_process(const std::string& bootstrap, const std::string& prefix) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        std::vector<std::string> words{HERALD_KAFKA_MEMBER, bootstrap, prefix, group, direct};
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        const int failed =
            posix_spawn(&x_pid, HERALD_KAFKA_MEMBER, &actions, nullptr, arguments.data(), environ);
        posix_spawn_file_actions_destroy(&actions);
        close(ends[1]);
        x_output = ends[0];
        if (failed != 0) throw std::runtime_error("kafka_member does not start");
    }
    ~member_process() {
        kill();
        close(x_output);
    }
    std::size_t lines() {
        char buffer[4096];
        for (ssize_t size; (size = read(x_output, buffer, sizeof buffer)) > 0;)
            x_lines += static_cast<std::size_t>(std::count(buffer, buffer + size, '\n'));
        return x_lines;
    }
    void kill() {
        if (x_pid == 0) return;
        ::kill(x_pid, SIGKILL);
        waitpid(x_pid, nullptr, 0);
        x_pid = 0;
    }

  private:
    pid_t x_pid = 0;
    int x_output = -1;
    std::size_t x_lines = 0;
};

class kafka_group : public ::testing::Test {
  protected:
    void SetUp() override {
        x_broker = broker::shared();
        if (x_broker == nullptr) GTEST_SKIP() << "no broker; ctest starts one where it can be had";
        x_broker->start();
        x_log = x_broker->new_log(x_prefix);
    }

    listener join() const { return join(*x_log); }
    static listener join(events::log::partitioned_log& log) {
        listener made;
        made.member = log.join(group, {direct});
        return made;
    }

    std::unique_ptr<broker> x_broker;
    std::string x_prefix;
    std::unique_ptr<events::log::kafka::kafka_log> x_log;
};

TEST_F(kafka_group, a_recalled_partition_stays_its_owners_until_it_is_released_and_commits_count_until_then) {
    listener first = join();
    ASSERT_TRUE(eventually(20, [&] { return first.poll(), first.mine.size() == 12; }));
    append_all(*x_log, {direct, 0}, {"a", "b", "c"});
    ASSERT_TRUE(eventually(10, [&] { return first.poll(), first.has("c"); }));

    first.consents = false;
    listener second = join();
    ASSERT_TRUE(eventually(20, [&] { return second.poll(), first.poll(), first.recalls.size() == 12; }));
    append_all(*x_log, {direct, 0}, {"d"});
    const auto asked = std::chrono::steady_clock::now();
    ASSERT_TRUE(eventually(20, [&] {
        first.poll();
        second.poll();
        return std::chrono::steady_clock::now() - asked > std::chrono::milliseconds(1'500);
    }));
    EXPECT_TRUE(second.mine.empty()) << "the group waits for the owner";
    EXPECT_FALSE(first.has("d")) << "nothing more is read of it";
    for (const auto& [where, epoch] : std::map(first.recalls)) {
        first.member->commit(where, epoch, where.partition == 0 ? 2 : 0,
                             "on recall " + std::to_string(epoch));
        first.release(where);
    }

    first.consents = true;
    ASSERT_TRUE(eventually(20, [&] {
        first.poll();
        second.poll();
        return first.mine.size() == 6 && second.mine.size() == 6;
    }));
    listener& owner = first.mine.contains({direct, 0}) ? first : second;
    EXPECT_EQ(owner.mine.at({direct, 0}).next_offset, 2);
    EXPECT_EQ(owner.mine.at({direct, 0}).metadata, "on recall 1");
    EXPECT_TRUE(eventually(20, [&] { return first.poll(), second.poll(), owner.has("d"); }));
}

TEST_F(kafka_group, what_is_not_released_in_time_is_revoked_and_may_be_committed_until_the_next_poll) {
    listener first = join();
    ASSERT_TRUE(eventually(20, [&] { return first.poll(), first.mine.size() == 12; }));
    append_all(*x_log, {direct, 0}, {"a", "b", "c"});
    ASSERT_TRUE(eventually(10, [&] { return first.poll(), first.has("c"); }));

    first.consents = false;
    listener second = join();
    ASSERT_TRUE(eventually(20, [&] { return second.poll(), first.poll(), first.recalls.size() == 12; }));
    const auto asked = std::chrono::steady_clock::now();
    ASSERT_TRUE(eventually(20, [&] { return second.poll(), first.poll(), first.lost.size() == 12; }));
    EXPECT_GE(std::chrono::steady_clock::now() - asked,
              std::chrono::milliseconds(limits::recall_ms_max - 500));
    for (const auto& [where, epoch] : first.lost)
        first.member->commit(where, epoch, where.partition == 0 ? 2 : 0,
                             "on revocation " + std::to_string(epoch));

    first.consents = true;
    ASSERT_TRUE(eventually(20, [&] {
        first.poll();
        second.poll();
        return first.mine.size() == 6 && second.mine.size() == 6;
    }));
    listener& owner = first.mine.contains({direct, 0}) ? first : second;
    EXPECT_EQ(owner.mine.at({direct, 0}).next_offset, 2);
    EXPECT_EQ(owner.mine.at({direct, 0}).metadata, "on revocation 1");
}

TEST_F(kafka_group, every_partition_has_one_owner_after_each_change_and_epochs_ascend) {
    listener first = join();
    listener second = join();
    const auto all_are_owned = [&] {
        first.poll();
        second.poll();
        std::set<topic_partition> owned;
        for (const auto& [where, state] : first.mine) owned.insert(where);
        for (const auto& [where, state] : second.mine) owned.insert(where);
        return owned.size() == 12 && first.mine.size() == 6 && second.mine.size() == 6;
    };
    ASSERT_TRUE(eventually(20, all_are_owned));
    const std::uint64_t before = second.mine.begin()->second.epoch;
    first.member.reset();  // leaves
    ASSERT_TRUE(eventually(10, [&] { return second.poll(), second.mine.size() == 12; }));
    for (const auto& [where, state] : second.mine) EXPECT_GT(state.epoch, before) << where.partition;
    EXPECT_TRUE(second.failures.empty());
}

TEST_F(kafka_group, a_member_takes_over_from_one_that_was_killed_and_goes_on_at_its_commits) {
    member_process dying(x_broker->bootstrap(), x_prefix);
    append_all(*x_log, {direct, 0}, {"a", "b", "c"});
    ASSERT_TRUE(eventually(20, [&] { return dying.lines() == 3; }));
    listener heir = join();
    ASSERT_TRUE(eventually(20, [&] { return heir.poll(), heir.mine.size() == 6; }));
    dying.kill();
    append_all(*x_log, {direct, 0}, {"d"});
    append_all(*x_log, {direct, 11}, {"e"});
    // The dead member's session must lapse first: 3 s here.
    ASSERT_TRUE(eventually(
        15, [&] { return heir.poll(), heir.mine.size() == 12 && heir.has("d") && heir.has("e"); }));
    EXPECT_EQ(heir.mine.at({direct, 0}).metadata, "from the killed one");
    EXPECT_FALSE(heir.has("a"));
}

TEST_F(kafka_group, a_member_with_a_name_keeps_its_partitions_over_a_restart_and_disturbs_nobody) {
    const auto named = x_broker->log_of(x_prefix, 0, "worker-a");
    listener first = join(*named);
    ASSERT_TRUE(eventually(20, [&] { return first.poll(), first.mine.size() == 12; }));
    listener other = join();
    ASSERT_TRUE(eventually(20, [&] {
        first.poll();
        other.poll();
        return first.mine.size() == 6 && other.mine.size() == 6;
    }));
    const auto before = first.mine;
    first.member.reset();  // without a word: its partitions rest
    append_all(*x_log, before.begin()->first, {"while it was away"});
    listener again = join(*named);
    ASSERT_TRUE(eventually(20, [&] {
        again.poll();
        other.poll();
        return again.mine.size() == 6 && again.has("while it was away");
    }));
    for (const auto& [where, state] : before) EXPECT_TRUE(again.mine.contains(where)) << where.partition;
    EXPECT_EQ(other.mine.size(), 6u);
    EXPECT_TRUE(other.lost.empty()) << "the group did not change";
}

TEST_F(kafka_group, a_member_whose_name_another_takes_fails_and_says_so) {
    const auto one = x_broker->log_of(x_prefix, 0, "worker-a");
    const auto twin = x_broker->log_of(x_prefix, 0, "worker-a");
    listener first = join(*one);
    ASSERT_TRUE(eventually(20, [&] { return first.poll(), first.mine.size() == 12; }));
    listener second = join(*twin);
    ASSERT_TRUE(eventually(30, [&] {
        first.poll();
        second.poll();
        return !first.failures.empty() && second.mine.size() == 12;
    }));
    EXPECT_EQ(first.failures[0].code, error_code::failed_precondition);
    EXPECT_NE(first.failures[0].message.find("worker-a"), std::string::npos) << first.failures[0].message;
    EXPECT_TRUE(second.failures.empty());
}

TEST_F(kafka_group, a_pause_ends_with_the_assignment) {
    listener first = join();
    ASSERT_TRUE(eventually(20, [&] { return first.poll(), first.mine.size() == 12; }));
    for (const auto& [where, state] : std::map(first.mine)) first.member->pause(where);
    append_all(*x_log, {direct, 3}, {"paused"});
    const std::uint64_t before = first.mine.begin()->second.epoch;
    {
        listener passing = join();
        ASSERT_TRUE(eventually(20, [&] { return passing.poll(), first.poll(), !passing.mine.empty(); }));
    }
    ASSERT_TRUE(eventually(20, [&] {
        first.poll();
        return first.mine.size() == 12 && first.mine.begin()->second.epoch > before && first.has("paused");
    }));
}

TEST_F(kafka_group, a_resume_where_nothing_is_paused_brings_no_record_again) {
    constexpr std::size_t count = 3'000;
    append_all(*x_log, {direct, 0}, std::vector<std::string>(count, std::string(500, 'x')));
    listener first = join();
    ASSERT_TRUE(eventually(60, [&] {
        first.poll();
        first.member->resume({direct, 0});
        return first.records.size() >= count;
    }));
    first.poll();
    for (std::size_t i = 0; i < first.records.size(); ++i)
        ASSERT_EQ(first.records[i].what.offset, static_cast<std::int64_t>(i));
    EXPECT_EQ(first.records.size(), count);
}

TEST_F(kafka_group, an_offset_out_of_range_is_a_failure_that_names_it) {
    {
        listener first = join();
        ASSERT_TRUE(eventually(20, [&] { return first.poll(), first.mine.size() == 12; }));
        first.member->commit({direct, 7}, first.mine.at({direct, 7}).epoch, 1'000, "");
    }
    listener second = join();
    ASSERT_TRUE(eventually(20, [&] { return second.poll(), !second.failures.empty(); }));
    EXPECT_EQ(second.failures[0].code, error_code::failed_precondition);
    EXPECT_NE(second.failures[0].message.find("deliveries.direct[7]"), std::string::npos)
        << second.failures[0].message;
    EXPECT_NE(second.failures[0].message.find("1000"), std::string::npos) << second.failures[0].message;
}

TEST_F(kafka_group, a_group_that_lost_its_place_goes_on_at_what_the_log_still_has) {
    append_all(*x_log, {direct, 7}, {"a", "b", "c"});
    {
        listener first = join();
        ASSERT_TRUE(eventually(20, [&] { return first.poll(), first.mine.size() == 12; }));
        first.member->commit({direct, 7}, first.mine.at({direct, 7}).epoch, 1'000, "");
    }
    const auto lost = x_log->find_lost_places();
    ASSERT_TRUE(lost) << lost.error().message;
    ASSERT_EQ(lost->size(), 1u);
    EXPECT_EQ(lost->front().group, group);
    EXPECT_EQ(lost->front().where, (topic_partition{direct, 7}));
    EXPECT_EQ(lost->front().committed, 1'000);
    EXPECT_EQ(lost->front().there.next, 3);
    const result<void> done = x_log->reset(*lost);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_TRUE(x_log->find_lost_places()->empty());
    listener second = join();
    ASSERT_TRUE(eventually(20, [&] { return second.poll(), second.has("c"); }));
    EXPECT_TRUE(second.has("a"));
    EXPECT_TRUE(second.failures.empty());
}

TEST_F(kafka_group, a_reset_is_refused_while_the_group_has_members) {
    listener member = join();
    ASSERT_TRUE(eventually(20, [&] { return member.poll(), member.mine.size() == 12; }));
    const result<void> refused = x_log->reset({{group, {direct, 0}, -1, {}}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, error_code::failed_precondition);
    EXPECT_NE(refused.error().message.find("stop the workers"), std::string::npos) << refused.error().message;
}

TEST_F(kafka_group, creating_the_topics_leaves_a_live_group_alone) {
    listener member = join();
    ASSERT_TRUE(eventually(20, [&] { return member.poll(), member.mine.size() == 12; }));
    append_all(*x_log, {direct, 0}, {"a", "b"});
    ASSERT_TRUE(eventually(10, [&] { return member.poll(), member.has("b"); }));
    member.member->commit({direct, 0}, member.mine.at({direct, 0}).epoch, 2, "kept");
    member.poll();
    const result<void> again = x_log->create_topics();
    EXPECT_TRUE(again) << again.error().message;
    member.member.reset();
    listener next = join();
    ASSERT_TRUE(eventually(20, [&] { return next.poll(), next.mine.size() == 12; }));
    EXPECT_EQ(next.mine.at({direct, 0}).next_offset, 2);
    EXPECT_EQ(next.mine.at({direct, 0}).metadata, "kept");
}

}  // namespace
}  // namespace herald::test
