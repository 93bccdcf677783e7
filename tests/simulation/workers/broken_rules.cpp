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
        return x_how.wrap(x_to.join(group, topics));
    }

  private:
    const broken_rule& x_how;
};

}  // namespace

const std::vector<broken_rule>& all_broken_rules() {
    static const std::vector<broken_rule> all{
        {"", "nothing is broken", [](auto to) { return to; }},
        {"let-go-before-the-attempts-ended", "a partition that its group wants back goes at once",
         as<let_go_at_once>},
        {"committed-before-the-attempts-ended",
         "what ends after its group has wanted a partition back is not committed",
         as<committed_at_the_recall>},
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

}  // namespace herald::test
