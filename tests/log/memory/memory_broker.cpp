#include "tests/log/memory/memory_broker.hpp"

#include <algorithm>
#include <set>

#include "runtime/assert.hpp"
#include "tests/log/memory/memory_state.hpp"

namespace herald::events::log::memory {
namespace {

bool below(const record& each, std::int64_t offset) { return each.offset < offset; }

}  // namespace

std::string text_of(const topic_partition& where) {
    return where.topic + "/" + std::to_string(where.partition);
}

std::optional<error> refusal(const memory_partition* partition, const topic_partition& where,
                             std::int64_t offset) {
    if (partition == nullptr) return runtime::failed_precondition("there is no " + text_of(where));
    if (offset >= partition->first && offset <= partition->next) return std::nullopt;
    return runtime::failed_precondition("offset " + std::to_string(offset) + " of " + text_of(where) +
                                        " is not in the log: it has " + std::to_string(partition->first) +
                                        " to " + std::to_string(partition->next));
}

// ---- records

void memory_partition::hang(const std::shared_ptr<memory_bell>& bell) {
    std::erase_if(bells, [&](const auto& each) { return each.expired() || each.lock() == bell; });
    bells.push_back(bell);
}

std::deque<record>::const_iterator memory_partition::from(std::int64_t offset) const {
    return std::lower_bound(records.begin(), records.end(), offset, below);
}

memory_partition* memory_state::find(const topic_partition& where) {
    const auto found = partitions.find(where);
    return found == partitions.end() ? nullptr : &found->second;
}

std::int64_t memory_state::append(const memory_append& what) {
    memory_partition& partition = partitions.at(what.where);
    const std::int64_t offset = partition.next++;
    partition.records.push_back({offset, clock.wall_ms(), what.key, what.value});
    if (partition.settings->durable)
        unsynced.clear();
    else
        unsynced.emplace_back(appended_at{what.where, offset});
    ring(partition);
    return offset;
}

void memory_state::store_commit(const std::string& group, const topic_partition& where,
                                memory_commit commit) {
    auto& commits = groups[group].commits;
    const auto found = commits.find(where);
    unsynced.emplace_back(
        commit_before{group, where, found == commits.end() ? std::nullopt : std::optional(found->second)});
    commits[where] = std::move(commit);
}

void memory_state::ring(memory_partition& partition) {
    for (const auto& bell : partition.bells) ring(bell.lock());
}

void memory_state::ring(const std::shared_ptr<memory_bell>& bell) {
    if (bell == nullptr || !bell->notify || bell->rung) return;
    bell->rung = true;
    outgoing.emplace_back(bell->post, [weak = std::weak_ptr(bell)] {
        if (const auto alive = weak.lock()) alive->call();
    });
}

// ---- groups

std::vector<topic_partition> memory_state::partitions_of(const std::vector<std::string>& wanted,
                                                         std::string& missing) {
    std::vector<topic_partition> found;
    for (const std::string& topic : wanted) {
        if (find({topic, 0}) == nullptr) missing = topic;
        for (auto each = partitions.lower_bound({topic, 0});
             each != partitions.end() && each->first.topic == topic; ++each)
            found.push_back(each->first);
    }
    if (!missing.empty()) found.clear();
    std::sort(found.begin(), found.end());
    return found;
}

void memory_state::rebalance(const std::string& name) {
    memory_group& group = groups[name];
    std::set<topic_partition> all;
    std::vector<member_id> live;
    for (const auto& [id, member] : group.members) {
        if (member.is_expelled) continue;
        std::string missing;
        for (const topic_partition& each : partitions_of(member.topics, missing)) all.insert(each);
        if (missing.empty()) live.push_back(id);
    }
    if (live.empty()) return;
    std::size_t turn = 0;
    for (const topic_partition& where : all) {
        const member_id to = live[turn++ % live.size()];
        const memory_claim& claim = group.claims[where];
        if (claim.next_owner != to && (claim.owner != to || claim.next_owner != 0)) move(name, where, to);
    }
}

void memory_state::move(const std::string& name, const topic_partition& where, member_id to) {
    memory_group& group = groups[name];
    memory_claim& claim = group.claims[where];
    claim.next_owner = to;
    if (claim.owner == 0) return hand_over(name, where);
    if (std::exchange(claim.is_recalled, true)) return;
    memory_member& owner = group.members.at(claim.owner);
    owner.mail.emplace_back(recalled{where, claim.epoch});
    ring(owner.bell);
}

void memory_state::hand_over(const std::string& name, const topic_partition& where) {
    memory_group& group = groups[name];
    memory_claim& claim = group.claims[where];
    const member_id to = claim.next_owner;
    claim = {};
    const auto found = group.members.find(to);
    if (found == group.members.end() || found->second.is_expelled) return;
    memory_member& member = found->second;
    const auto commit = group.commits.find(where);
    if (commit == group.commits.end()) {
        member.mail.emplace_back(member_failure{runtime::failed_precondition(
            "group " + name + " has no committed offset for " + where.topic + "/" +
            std::to_string(where.partition) + "; creating the topics commits the first")});
    } else {
        claim.owner = to;
        claim.epoch = ++last_epoch;
        member.mail.emplace_back(
            assigned{where, commit->second.next_offset, commit->second.metadata, claim.epoch});
        if (memory_partition* partition = find(where)) partition->hang(member.bell);
    }
    ring(member.bell);
}

void memory_state::expel(const std::string& name, member_id id) {
    memory_group& group = groups[name];
    const auto found = group.members.find(id);
    if (found == group.members.end() || found->second.is_expelled) return;
    memory_member& member = found->second;
    member.is_expelled = true;
    std::vector<topic_partition> lost;
    for (const auto& [where, claim] : group.claims) {
        if (claim.owner != id) continue;
        member.mail.emplace_back(revoked{where, claim.epoch});
        lost.push_back(where);
    }
    ring(member.bell);
    if (member.is_dead) group.members.erase(found);
    for (const topic_partition& where : lost) hand_over(name, where);
    if (rebalances_by_itself) rebalance(name);
}

void memory_state::remove(const std::string& name, member_id id) {
    memory_group& group = groups[name];
    group.members.erase(id);
    std::vector<topic_partition> left;
    for (const auto& [where, claim] : group.claims)
        if (claim.owner == id) left.push_back(where);
    for (const topic_partition& where : left) hand_over(name, where);
    if (rebalances_by_itself) rebalance(name);
}

// ---- the broker

memory_broker::memory_broker(const runtime::clock& clock) : x_state(std::make_shared<memory_state>(clock)) {}

std::vector<record> memory_broker::records(const topic_partition& where) const {
    const memory_lock lock(x_state);
    const memory_partition* found = x_state->find(where);
    if (found == nullptr) return {};
    return {found->records.begin(), found->records.end()};
}

std::optional<std::pair<std::int64_t, std::string>> memory_broker::committed(
    const std::string& group, const topic_partition& where) const {
    const memory_lock lock(x_state);
    const auto& commits = x_state->groups[group].commits;
    const auto found = commits.find(where);
    if (found == commits.end()) return std::nullopt;
    return std::pair(found->second.next_offset, found->second.metadata);
}

std::size_t memory_broker::held() const {
    const memory_lock lock(x_state);
    return x_state->held.size();
}

void memory_broker::release(std::size_t index) {
    const memory_lock lock(x_state);
    HERALD_ASSERT(index < x_state->held.size());
    const auto found = x_state->held.begin() + static_cast<std::ptrdiff_t>(index);
    const std::vector<memory_append> batch = std::move(*found);
    x_state->held.erase(found);
    for (const memory_append& each : batch) x_state->append(each);
}

void memory_broker::trim(const topic_partition& where, std::int64_t first) {
    const memory_lock lock(x_state);
    memory_partition& partition = x_state->partitions.at(where);
    partition.first = std::clamp(first, partition.first, partition.next);
    partition.records.erase(partition.records.begin(), partition.from(partition.first));
    x_state->ring(partition);
}

void memory_broker::cut(const topic_partition& where, std::int64_t next) {
    const memory_lock lock(x_state);
    memory_partition& partition = x_state->partitions.at(where);
    partition.next = std::clamp(next, partition.first, partition.next);
    partition.records.erase(partition.from(partition.next), partition.records.end());
    x_state->unsynced.clear();  // the rest is safe
    x_state->ring(partition);
}

void memory_broker::compact(const topic_partition& where, std::int64_t below_offset) {
    const memory_lock lock(x_state);
    memory_partition& partition = x_state->partitions.at(where);
    std::map<std::string, std::int64_t> last;
    for (const record& each : partition.records) last[each.key] = each.offset;
    std::erase_if(partition.records, [&](const record& each) {
        return each.offset < below_offset && each.offset < last[each.key];
    });
}

std::size_t memory_broker::unsynced() const {
    const memory_lock lock(x_state);
    return x_state->unsynced.size();
}

void memory_broker::lose_unsynced(std::size_t kept) {
    const memory_lock lock(x_state);
    auto& writes = x_state->unsynced;
    while (writes.size() > kept) {
        if (const auto* append = std::get_if<appended_at>(&writes.back())) {
            memory_partition& partition = x_state->partitions.at(append->where);
            partition.records.erase(partition.from(append->offset), partition.records.end());
            partition.next = append->offset;
            partition.first = std::min(partition.first, partition.next);
            x_state->ring(partition);
        } else {
            auto& [group, where, before] = std::get<commit_before>(writes.back());
            auto& commits = x_state->groups[group].commits;
            if (before)
                commits[where] = *before;
            else
                commits.erase(where);
        }
        writes.pop_back();
    }
    writes.clear();  // the rest is on the disk
}

void memory_broker::forget_commits(const std::string& group) {
    const memory_lock lock(x_state);
    x_state->groups[group].commits.clear();
}

void memory_broker::rebalance_by_itself(bool whether) {
    const memory_lock lock(x_state);
    x_state->rebalances_by_itself = whether;
}

std::vector<member_id> memory_broker::members(const std::string& group) const {
    const memory_lock lock(x_state);
    std::vector<member_id> found;
    for (const auto& [id, member] : x_state->groups[group].members) found.push_back(id);
    return found;
}

std::optional<member_id> memory_broker::owner(const std::string& group, const topic_partition& where) const {
    const memory_lock lock(x_state);
    const auto& claims = x_state->groups[group].claims;
    const auto found = claims.find(where);
    if (found == claims.end() || found->second.owner == 0) return std::nullopt;
    return found->second.owner;
}

void memory_broker::rebalance(const std::string& group) {
    const memory_lock lock(x_state);
    x_state->rebalance(group);
}

void memory_broker::move(const std::string& group, const topic_partition& where, member_id to) {
    const memory_lock lock(x_state);
    HERALD_ASSERT(x_state->groups[group].members.contains(to));
    x_state->move(group, where, to);
}

void memory_broker::expel(const std::string& group, member_id member) {
    const memory_lock lock(x_state);
    x_state->expel(group, member);
}

}  // namespace herald::events::log::memory
