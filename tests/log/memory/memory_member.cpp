// A member of a group of the log in memory.
#include <map>
#include <utility>

#include "events/log/limits.hpp"
#include "runtime/assert.hpp"
#include "tests/log/memory/memory_state.hpp"

namespace herald::events::log::memory {

namespace {

class memory_group_member final : public group_member {
  public:
    memory_group_member(process_pointer process, std::string group, const std::vector<std::string>& topics)
        : x_process(std::move(process)),
          x_group(std::move(group)),
          x_bell(std::make_shared<memory_bell>(x_process->post)) {
        memory_state& state = *x_process->state;
        const memory_lock lock(x_process->state);
        x_id = ++state.last_member;
        memory_member& self = state.groups[x_group].members[x_id];
        self = {topics, x_bell, {}};
        std::string missing;
        state.partitions_of(topics, missing);
        if (!missing.empty())
            self.mail.emplace_back(
                member_failure{runtime::failed_precondition("there is no topic " + missing)});
        else if (state.rebalances_by_itself)
            state.rebalance(x_group);
    }

    ~memory_group_member() override {
        x_bell->silence();
        const memory_lock lock(x_process->state);
        if (x_has_failed) return;  // has left
        self().is_dead = true;
        if (!x_process->is_dead || self().is_expelled) x_process->state->remove(x_group, x_id);
    }

    std::vector<member_event> poll(std::size_t events_max, std::int64_t) override {
        const memory_lock lock(x_process->state);
        x_bell->rung = false;
        if (x_has_failed || x_process->is_dead || !x_process->faults->reachable()) return {};
        let_go();
        recall_in_vain();
        std::vector<member_event> events;
        std::deque<member_event>& mail = self().mail;
        while (!x_has_failed && !mail.empty() && events.size() < events_max) {
            learn(mail.front());
            events.push_back(std::move(mail.front()));
            mail.pop_front();
        }
        if (!x_has_failed && mail.empty() && std::exchange(self().is_expelled, false)) join_again();
        if (!x_has_failed && mail.empty()) read(events, events_max);
        if (x_has_failed) x_process->state->remove(x_group, x_id);
        return events;
    }

    void on_ready(std::function<void()> notify) override {
        const memory_lock lock(x_process->state);
        x_bell->notify = std::move(notify);
        x_process->state->ring(x_bell);
    }

    void pause(const topic_partition& where) override { set_paused(where, true); }
    void resume(const topic_partition& where) override { set_paused(where, false); }

    void commit(const topic_partition& where, std::uint64_t epoch, std::int64_t next_offset,
                std::string metadata) override {
        HERALD_ASSERT(metadata.size() <= limits::commit_metadata_bytes_max);
        const memory_lock lock(x_process->state);
        const auto& claims = x_process->state->groups[x_group].claims;
        const auto claim = claims.find(where);
        if (claim == claims.end() || claim->second.owner != x_id || claim->second.epoch != epoch) return;
        if (x_process->is_dead || !x_process->faults->reachable()) return;
        x_process->state->store_commit(x_group, where, {next_offset, std::move(metadata)});
    }

    void release(const topic_partition& where, std::uint64_t epoch) override {
        const memory_lock lock(x_process->state);
        const auto found = x_recalled.find(where);
        if (found == x_recalled.end() || found->second.epoch != epoch) return;
        x_recalled.erase(found);
        if (x_process->is_dead) return;
        if (x_process->faults->reachable())
            let_go({where, epoch});
        else
            x_told.push_back({where, epoch});
    }

  private:
    struct recalled_place {
        std::uint64_t epoch = 0;
        std::int64_t since_ms = 0;
    };
    struct reading_place {
        std::uint64_t epoch = 0;
        std::int64_t position = 0;
        bool is_paused = false;
    };

    memory_member& self() { return x_process->state->groups[x_group].members.at(x_id); }

    /// The owner has not released them in time.
    void recall_in_vain() {
        const std::int64_t now_ms = x_process->state->clock.steady_ms();
        for (auto at = x_recalled.begin(); at != x_recalled.end();) {
            const auto current = at++;
            if (now_ms - current->second.since_ms < limits::recall_ms_max) continue;
            self().mail.emplace_back(revoked{current->first, current->second.epoch});
            x_recalled.erase(current);
        }
    }

    /// Lets go of the partitions that the last poll() reported as revoked, and of those that were released
    /// while the log was out of reach.
    void let_go() {
        for (const revoked& each : std::exchange(x_told, {})) let_go(each);
    }
    void let_go(const revoked& each) {
        const memory_claim& claim = x_process->state->groups[x_group].claims[each.where];
        if (claim.owner == x_id && claim.epoch == each.epoch)
            x_process->state->hand_over(x_group, each.where);
    }

    void learn(const member_event& event) {
        if (const auto* got = std::get_if<assigned>(&event)) {
            x_places[got->where] = {got->epoch, got->next_offset, false};
        } else if (const auto* wanted = std::get_if<recalled>(&event)) {
            x_places.erase(wanted->where);
            x_recalled[wanted->where] = {wanted->epoch, x_process->state->clock.steady_ms()};
        } else if (const auto* lost = std::get_if<revoked>(&event)) {
            x_places.erase(lost->where);
            x_recalled.erase(lost->where);
            x_told.push_back(*lost);
            x_process->state->ring(x_bell);  // other members wait for this member's next poll()
        } else {
            x_has_failed = true;
        }
    }

    void join_again() {
        if (x_process->state->rebalances_by_itself) x_process->state->rebalance(x_group);
    }

    /// Takes one record from each partition in turn, so that no partition waits for another's backlog.
    void read(std::vector<member_event>& events, std::size_t events_max) {
        const std::size_t count = x_process->faults->next_poll(events_max);
        std::size_t bytes = 0;
        const auto is_full = [&] { return events.size() >= count || bytes >= limits::member_poll_bytes_max; };
        bool found = true;
        while (found && !is_full()) {
            found = false;
            for (auto& [where, place] : x_places) {
                if (place.is_paused || is_full()) continue;
                const memory_partition* partition = x_process->state->find(where);
                if (const auto reason = refusal(partition, where, place.position)) {
                    events.emplace_back(member_failure{*reason});
                    x_has_failed = true;
                    return;
                }
                const auto next = partition->from(place.position);
                if (next == partition->records.end()) continue;
                events.emplace_back(consumed{where, place.epoch, *next});
                bytes += bytes_of(*next);
                place.position = next->offset + 1;
                found = true;
            }
        }
        if (found) x_process->state->ring(x_bell);
    }

    void set_paused(const topic_partition& where, bool whether) {
        const memory_lock lock(x_process->state);
        const auto found = x_places.find(where);
        if (found == x_places.end()) return;
        found->second.is_paused = whether;
        if (!whether) x_process->state->ring(x_bell);
    }

    const process_pointer x_process;
    const std::string x_group;
    member_id x_id = 0;
    const std::shared_ptr<memory_bell> x_bell;
    std::map<topic_partition, reading_place> x_places;
    std::map<topic_partition, recalled_place> x_recalled;  // not released yet
    std::vector<revoked> x_told;
    bool x_has_failed = false;
};

}  // namespace

std::unique_ptr<group_member> make_memory_member(process_pointer process, std::string group,
                                                 const std::vector<std::string>& topics) {
    return std::make_unique<memory_group_member>(std::move(process), std::move(group), topics);
}

}  // namespace herald::events::log::memory
