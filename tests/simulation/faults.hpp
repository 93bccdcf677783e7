// What goes wrong between a process and the log, by chance.
#pragma once

#include "events/memory_log.hpp"
#include "events/topics.hpp"
#include "tests/simulation/world.hpp"

namespace herald::simulation {

class seeded_faults final : public events::memory_faults {
  public:
    /// `repeats_commands`: the log may hold a command twice that was appended once.
    seeded_faults(dice& chance, bool repeats_commands)
        : x_chance(chance), x_repeats_commands(repeats_commands) {}
    /// From now on nothing goes wrong any more.
    void heal() { x_healed = true; }

    events::batch_plan next_batch(const events::topic_partition& where, std::size_t waiting) override {
        using events::batch_fate;
        const auto records =
            static_cast<std::size_t>(x_chance.between(1, static_cast<std::int64_t>(waiting)));
        if (x_healed || !x_chance.one_in(12)) return {batch_fate::accepted, records};
        // Only the publisher's producer may wait for ever; others are told after a while.
        const bool publishers =
            where.topic.starts_with("events.") || where.topic == events::topic::subscribers;
        const bool silent = publishers && x_chance.one_in(4);
        switch (x_chance.between(0, 6)) {
            case 0:
                return {batch_fate::offset_unknown, records};
            case 1:
                return {x_repeats_commands || where.topic != events::topic::commands ? batch_fate::duplicated
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
    std::size_t next_answer(std::size_t waiting) override {
        if (x_healed) return 0;
        return static_cast<std::size_t>(x_chance.between(0, static_cast<std::int64_t>(waiting) - 1));
    }
    std::size_t next_poll(std::size_t wanted) override {
        return x_healed || x_chance.one_in(2) ? wanted : static_cast<std::size_t>(x_chance.between(1, 3));
    }
    std::int64_t range_lag(const events::topic_partition&) override {
        return x_healed || !x_chance.one_in(10) ? 0 : x_chance.between(1, 5);
    }
    bool reachable() override { return x_healed || !x_chance.one_in(40); }

  private:
    dice& x_chance;
    const bool x_repeats_commands;
    bool x_healed = false;
};

}  // namespace herald::simulation
