// What goes wrong between a process and the log, by chance.
#pragma once

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

#include "events/log/topics.hpp"
#include "tests/log/memory/memory_log.hpp"
#include "tests/simulation/world.hpp"

namespace herald::test {

class seeded_faults final : public events::log::memory::memory_faults {
  public:
    struct settings {
        /// The log may contain a command twice that was appended once.
        bool repeats_commands = false;
        /// For how long a deposed leader of the command log may hide new records.
        std::int64_t deposed_ms = 0;
        /// The most that a read gives.
        std::size_t records_at_once = std::numeric_limits<std::size_t>::max();
    };
    seeded_faults(world& in, settings how) : x_world(in), x_chance(in.chance), x_settings(how) {}
    /// From now on nothing goes wrong any more.
    void heal() { x_healed = true; }
    /// Except for this: every read fails.
    void cut_off_until(std::int64_t at_ms) { x_cut_off_until_ms = at_ms; }

    events::log::memory::batch_plan next_batch(const events::log::topic_partition& where,
                                               std::size_t waiting) override {
        using events::log::memory::batch_fate;
        const events::log::memory::batch_plan plan = plan_batch(where, waiting);
        const bool lands = plan.fate == batch_fate::accepted || plan.fate == batch_fate::offset_unknown ||
                           plan.fate == batch_fate::duplicated || plan.fate == batch_fate::answer_lost;
        if (lands && where.topic == events::log::topic::commands)
            x_landed.emplace_back(x_world.time.now_ms(), static_cast<std::int64_t>(plan.records));
        return plan;
    }
    std::size_t next_answer(std::size_t waiting) override {
        if (x_healed) return 0;
        return static_cast<std::size_t>(x_chance.between(0, static_cast<std::int64_t>(waiting) - 1));
    }
    std::size_t next_poll(std::size_t wanted) override {
        const std::size_t most = std::min(wanted, x_settings.records_at_once);
        if (x_healed || x_chance.one_in(2)) return most;
        return std::min(most, static_cast<std::size_t>(x_chance.between(1, 3)));
    }
    std::int64_t range_lag(const events::log::topic_partition& where) override {
        if (x_healed || !x_chance.one_in(10)) return 0;
        if (where.topic != events::log::topic::commands) return x_chance.between(1, 5);
        const std::int64_t oldest_ms = x_world.time.now_ms() - x_settings.deposed_ms;
        while (!x_landed.empty() && x_landed.front().first <= oldest_ms) x_landed.pop_front();
        std::int64_t hidden = 0;
        for (const auto& [at_ms, records] : x_landed) hidden += records;
        return x_chance.between(0, hidden);
    }
    bool reachable() override {
        if (x_world.time.now_ms() < x_cut_off_until_ms) return false;
        return x_healed || !x_chance.one_in(40);
    }

  private:
    events::log::memory::batch_plan plan_batch(const events::log::topic_partition& where,
                                               std::size_t waiting) {
        using events::log::memory::batch_fate;
        const auto records =
            static_cast<std::size_t>(x_chance.between(1, static_cast<std::int64_t>(waiting)));
        if (x_healed || !x_chance.one_in(12)) return {batch_fate::accepted, records};
        // Only the publisher's producer may wait for ever; others get an answer after a while.
        const bool publishers =
            where.topic.starts_with("events.") || where.topic == events::log::topic::subscribers;
        const bool silent = publishers && x_chance.one_in(4);
        switch (x_chance.between(0, 6)) {
            case 0:
                return {batch_fate::offset_unknown, records};
            case 1:
                return {x_settings.repeats_commands || where.topic != events::log::topic::commands
                            ? batch_fate::duplicated
                            : batch_fate::accepted,
                        records};
            case 2:
                return {silent ? batch_fate::unanswered : batch_fate::answer_lost, records};
            case 3:
                return {batch_fate::held, records};
            default:
                return {silent ? batch_fate::swallowed : batch_fate::rejected, records};
        }
    }

    world& x_world;
    dice& x_chance;
    const settings x_settings;
    bool x_healed = false;
    std::int64_t x_cut_off_until_ms = 0;
    std::deque<std::pair<std::int64_t, std::int64_t>> x_landed;  // commands: when, how many records
};

}  // namespace herald::test
