// The committer's groups: which member owns each, and how far each has come.
#include "storage/embedded_log/log_committer.hpp"

namespace herald::storage::embedded_log {
namespace {

constexpr std::chrono::milliseconds commit_delay{100};

}  // namespace

void log_committer::join(const std::string& group, const std::shared_ptr<events::log::bell>& member) {
    const runtime::lock_guard lock(x_mutex);
    x_groups[group].push_back(member);
}

void log_committer::leave(const std::string& group, const std::shared_ptr<events::log::bell>& member) {
    std::shared_ptr<events::log::bell> heir;
    {
        const runtime::lock_guard lock(x_mutex);
        auto& members = x_groups[group];
        std::erase(members, member);
        if (!members.empty()) heir = members.front();
    }
    if (heir != nullptr) heir->ring();
}

bool log_committer::owns(const std::string& group, const std::shared_ptr<events::log::bell>& member) {
    const runtime::lock_guard lock(x_mutex);
    const auto& members = x_groups[group];
    return !x_is_stopping && !members.empty() && members.front() == member;
}

std::uint64_t log_committer::next_epoch() {
    const runtime::lock_guard lock(x_mutex);
    return ++x_last_epoch;
}

std::optional<stored_commit> log_committer::committed(const commit_key& key) {
    const runtime::lock_guard lock(x_mutex);
    const auto found = x_commits.find(key);
    if (found == x_commits.end()) return std::nullopt;
    return found->second;
}

result<std::vector<std::int64_t>> log_committer::committed_of(const std::string& topic) {
    const events::log::topic_settings* const known = events::log::find_topic(topic);
    const auto count = partitions(topic);
    if (!count) return count.error();
    if (known == nullptr || known->group.empty())
        return runtime::not_found({"no group reads the topic ", topic});
    std::vector<std::int64_t> places;
    for (std::int32_t number = 0; number < *count; ++number) {
        const auto found = committed({std::string(known->group), {topic, number}});
        places.push_back(found ? found->next_offset : 0);
    }
    return places;
}

void log_committer::commit(commit_key key, stored_commit what) {
    const runtime::lock_guard lock(x_mutex);
    if (x_is_stopping) return;
    x_commits[key] = std::move(what);
    if (x_unwritten_commits.empty()) {
        x_commits_due = std::chrono::steady_clock::now() + commit_delay;
        x_work.notify_one();
    }
    x_unwritten_commits.insert(std::move(key));
}

}  // namespace herald::storage::embedded_log
