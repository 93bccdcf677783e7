// How the suite of all logs appends, reads and follows.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "events/log/limits.hpp"
#include "events/log/log.hpp"
#include "events/log/topics.hpp"
#include "tests/support/until.hpp"

namespace herald::test {

inline constexpr std::int64_t poll_ms = 50;

inline const events::log::topic_partition promote_3{std::string(events::log::topic::promote), 3};
inline const events::log::topic_partition attempts_1{std::string(events::log::topic::attempts), 1};
inline const events::log::topic_partition subscribers_0{std::string(events::log::topic::subscribers), 0};

struct sent_record {
    std::string key;
    std::optional<std::string> value;
};

/// Collects answers to appends; outlives the producers that use it.
class answers {
  public:
    events::log::append_handler next() {
        std::lock_guard lock(x_mutex);
        const std::size_t index = x_answers.size();
        x_answers.emplace_back();
        return [this, index](result<std::int64_t> answer) {
            std::lock_guard inner(x_mutex);
            x_answers[index].push_back(std::move(answer));
            ++x_count;
            x_changed.notify_all();
        };
    }
    /// True when all handlers were answered in time.
    bool wait() {
        std::unique_lock lock(x_mutex);
        return x_changed.wait_for(lock, patience, [this] { return x_count >= x_answers.size(); });
    }
    /// For each handler, in order of next(), the values it was called with.
    std::deque<std::vector<result<std::int64_t>>> all() {
        std::lock_guard lock(x_mutex);
        return x_answers;
    }

  private:
    std::mutex x_mutex;
    std::condition_variable x_changed;
    std::deque<std::vector<result<std::int64_t>>> x_answers;
    std::size_t x_count = 0;
};

result<std::int64_t> append_and_wait(events::log::producer& to, const events::log::topic_partition& where,
                                     std::string key, std::optional<std::string> value);

/// Appends all and waits for their acknowledgements.
void append_all(events::log::partitioned_log& log, const events::log::topic_partition& where,
                const std::vector<sent_record>& records);

std::vector<sent_record> numbered(const std::string& mark, int count);

result<events::log::offset_range> range_of(events::log::partitioned_log& log,
                                           const events::log::topic_partition& where);

std::int64_t end_of(events::log::partitioned_log& log, const events::log::topic_partition& where);

/// Reads until `count` records with keys starting with `mark` have arrived, or patience ends.
std::vector<events::log::record> read_marked(events::log::reader& from, const std::string& mark,
                                             std::size_t count);

std::vector<events::log::record> read_marked(events::log::partitioned_log& log,
                                             const events::log::topic_partition& where, std::int64_t from,
                                             const std::string& mark, std::size_t count);

void expect_same(const std::vector<events::log::record>& found, const std::vector<sent_record>& sent);

/// Polls until poll() fails for good; fails the test when it never does.
error final_failure(events::log::reader& from);

/// A member of a group and what it received.
class follower {
  public:
    follower(events::log::partitioned_log& log, std::string_view group,
             const std::vector<std::string>& topics)
        : x_member(log.join(std::string(group), topics)) {}

    /// Polls once.
    void poll(std::size_t events_max = 100) {
        for (events::log::member_event& event : x_member->poll(events_max, poll_ms)) take(std::move(event));
    }
    /// Polls until `done` or patience ends.
    bool poll_until(const std::function<bool()>& done) {
        const auto deadline = std::chrono::steady_clock::now() + patience;
        while (!done() && std::chrono::steady_clock::now() < deadline) poll();
        return done();
    }
    bool wait_for_assignment(std::size_t count) {
        return poll_until([&] { return x_assigned.size() == count; });
    }
    bool wait_for(const std::string& mark, std::size_t count) {
        return poll_until([&] { return marked(mark).size() >= count; });
    }
    std::vector<events::log::consumed> marked(const std::string& mark) const {
        std::vector<events::log::consumed> found;
        for (const events::log::consumed& each : x_consumed)
            if (each.what.key.starts_with(mark)) found.push_back(each);
        return found;
    }
    void forget() { x_consumed.clear(); }
    /// Everything consumed counts as done.
    void commit(const std::string& metadata) {
        std::map<events::log::topic_partition, std::int64_t> next;
        for (const auto& [where, each] : x_assigned) next[where] = each.next_offset;
        for (const events::log::consumed& each : x_consumed) next[each.where] = each.what.offset + 1;
        for (const auto& [where, offset] : next)
            x_member->commit(where, x_assigned.at(where).epoch, offset, metadata);
    }

    events::log::group_member& member() { return *x_member; }
    const std::map<events::log::topic_partition, events::log::assigned>& assigned() const {
        return x_assigned;
    }
    const std::vector<error>& failures() const { return x_failures; }

  private:
    void take(events::log::member_event event) {
        if (const auto* got = std::get_if<events::log::assigned>(&event)) {
            x_assigned[got->where] = *got;
            x_position[got->where] = got->next_offset;
        } else if (const auto* wanted = std::get_if<events::log::recalled>(&event)) {
            EXPECT_EQ(x_assigned.erase(wanted->where), 1u);
            x_member->release(wanted->where, wanted->epoch);
        } else if (const auto* lost = std::get_if<events::log::revoked>(&event)) {
            EXPECT_EQ(x_assigned.count(lost->where), 1u);
            x_assigned.erase(lost->where);
        } else if (auto* each = std::get_if<events::log::consumed>(&event)) {
            ASSERT_EQ(x_assigned.count(each->where), 1u) << "a record of a partition that is not assigned";
            EXPECT_EQ(each->epoch, x_assigned[each->where].epoch);
            EXPECT_GE(each->what.offset, x_position[each->where]);
            x_position[each->where] = each->what.offset + 1;
            x_consumed.push_back(std::move(*each));
        } else {
            x_failures.push_back(std::get<events::log::member_failure>(event).reason);
        }
    }

    std::unique_ptr<events::log::group_member> x_member;
    std::map<events::log::topic_partition, events::log::assigned> x_assigned;
    std::map<events::log::topic_partition, std::int64_t> x_position;
    std::vector<events::log::consumed> x_consumed;
    std::vector<error> x_failures;
};

inline const std::vector<std::string> direct_topics{std::string(events::log::topic::direct),
                                                    std::string(events::log::topic::replay)};
inline constexpr auto direct_partitions = static_cast<std::size_t>(2 * events::log::partitions_default);

events::log::topic_partition direct(std::int32_t partition);

}  // namespace herald::test
