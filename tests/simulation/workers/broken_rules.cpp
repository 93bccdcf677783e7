#include "tests/simulation/workers/broken_rules.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/support/forwarding.hpp"

namespace herald::test {
namespace {

using events::log::group_member;
using events::log::member_event;
using events::log::recalled;
using events::log::topic_partition;

/// What is wanted back counts as lost at once.
class let_go_at_once final : public forwarding_member {
  public:
    using forwarding_member::forwarding_member;
    std::vector<member_event> poll(std::size_t events_max, std::int64_t wait_ms) override {
        for (const auto& [where, epoch] : std::exchange(x_wanted, {})) x_to->release(where, epoch);
        auto events = x_to->poll(events_max, wait_ms);
        for (member_event& event : events) {
            const auto* wanted = std::get_if<recalled>(&event);
            if (wanted == nullptr) continue;
            const recalled lost = *wanted;
            x_wanted[lost.where] = lost.epoch;
            event = events::log::revoked{lost.where, lost.epoch};
        }
        return events;
    }

  private:
    std::map<topic_partition, std::uint64_t> x_wanted;  // released at the next poll
};

/// What ends after the recall is not committed.
class committed_at_the_recall final : public forwarding_member {
  public:
    using forwarding_member::forwarding_member;
    std::vector<member_event> poll(std::size_t events_max, std::int64_t wait_ms) override {
        auto events = x_to->poll(events_max, wait_ms);
        for (const member_event& event : events)
            if (const auto* wanted = std::get_if<recalled>(&event))
                x_wanted.emplace(wanted->where, wanted->epoch);
        return events;
    }
    void commit(const topic_partition& where, std::uint64_t epoch, std::int64_t next_offset,
                std::string metadata) override {
        if (!x_wanted.contains({where, epoch})) x_to->commit(where, epoch, next_offset, std::move(metadata));
    }

  private:
    std::set<std::pair<topic_partition, std::uint64_t>> x_wanted;
};

template <class Member>
std::unique_ptr<group_member> as(std::unique_ptr<group_member> to) {
    return std::make_unique<Member>(std::move(to));
}

class wrapped_members final : public forwarding_log {
  public:
    wrapped_members(events::log::partitioned_log& to, const broken_rule& how)
        : forwarding_log(to), x_how(how) {}
    std::unique_ptr<group_member> join(const std::string& group,
                                       const std::vector<std::string>& topics) override {
        auto member = x_to.join(group, topics);
        return x_how.wrap ? x_how.wrap(std::move(member)) : std::move(member);
    }

  private:
    const broken_rule& x_how;
};

class passing_scheduler : public runtime::scheduler {
  public:
    explicit passing_scheduler(process_thread& to) : x_to(to) {}
    void post(task work) override { x_to.post(std::move(work)); }
    void run_at(std::int64_t at_ms, task work) override { x_to.run_at(at_ms, std::move(work)); }
    const runtime::clock& time() const noexcept override { return x_to.time(); }

  protected:
    process_thread& x_to;
};

class clock_without_lateness final : public runtime::clock {
  public:
    explicit clock_without_lateness(const process_thread& of) : x_of(of) {}
    std::int64_t wall_ms() const noexcept override { return x_of.time().wall_ms(); }
    std::int64_t steady_ms() const noexcept override { return x_of.time().steady_ms() - x_of.held_up_ms(); }

  private:
    const process_thread& x_of;
};

class scheduler_without_lateness final : public passing_scheduler {
  public:
    explicit scheduler_without_lateness(process_thread& to) : passing_scheduler(to), x_clock(to) {}
    void run_at(std::int64_t at_ms, task work) override {
        x_to.run_at(at_ms + x_to.held_up_ms(), std::move(work));
    }
    const runtime::clock& time() const noexcept override { return x_clock; }

  private:
    clock_without_lateness x_clock;
};

}  // namespace

const std::vector<broken_rule>& all_broken_rules() {
    static const std::vector<broken_rule> all{
        {"", "nothing is broken", {}},
        {"let-go-before-the-attempts-ended", "a partition that its group wants back goes at once",
         as<let_go_at_once>},
        {"committed-before-the-attempts-ended",
         "what ends after its group has wanted a partition back is not committed",
         as<committed_at_the_recall>},
        {.name = "answers-timed-by-the-loop",
         .what = "how long an answer took is measured by a loop that is late",
         .wrap = {},
         .is_timed_by_the_loop = true},
        {.name = "lateness-not-noticed",
         .what = "a worker that is held up reads as if it were not",
         .wrap = {},
         .hides_lateness = true},
    };
    return all;
}

const broken_rule& broken_rule_named(std::string_view name) {
    const auto found = std::ranges::find(all_broken_rules(), name, &broken_rule::name);
    if (found == all_broken_rules().end())
        throw std::invalid_argument("there is no mutation " + std::string(name));
    return *found;
}

std::unique_ptr<events::log::partitioned_log> with_members(events::log::partitioned_log& log,
                                                           const broken_rule& how) {
    return std::make_unique<wrapped_members>(log, how);
}

std::unique_ptr<runtime::scheduler> scheduler_of(process_thread& thread, const broken_rule& how) {
    if (how.hides_lateness) return std::make_unique<scheduler_without_lateness>(thread);
    return std::make_unique<passing_scheduler>(thread);
}

}  // namespace herald::test
