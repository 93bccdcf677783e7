// A group member: assignments and their epochs, commits, and the check for a client that fell silent.
#include "events/log/kafka/group_member.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "events/log/kafka/limits.hpp"
#include "events/log/kafka/membership.hpp"
#include "events/log/limits.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"

namespace herald::events::log::kafka {
namespace {

constexpr std::int64_t ask_again_ms = 200;  // for committed offsets, after an error

class kafka_member final : public group_member {
  public:
    kafka_member(std::shared_ptr<installation> installed, std::shared_ptr<range_questions> questions,
                 std::string group, std::vector<std::string> topics)
        : x_installed(std::move(installed)),
          x_questions(std::move(questions)),
          x_group(std::move(group)),
          x_topics(std::move(topics)) {}

    ~kafka_member() override {
        x_bell->silence();
        leave(limits::kafka_leave_ms_max);
    }

    void on_ready(std::function<void()> notify) override { x_bell->call(std::move(notify)); }

    std::vector<member_event> poll(std::size_t events_max, std::int64_t wait_ms) override {
        x_bell->reset();
        x_events.clear();
        x_bytes = 0;
        if (x_has_failed) return {};
        if (x_recall == recall::told) let_go();
        if (x_recall == recall::asked && now_ms() >= x_recall_until_ms) take_away();
        if (x_membership == nullptr) join();
        if (!x_has_failed && !x_membership->has_commit_in_flight()) send_commits();
        const std::int64_t deadline_ms = now_ms() + wait_ms;
        while (!x_has_failed && x_recall != recall::told && x_events.size() < events_max &&
               x_bytes < limits::member_poll_bytes_max) {
            const std::int64_t left_ms = x_events.empty() ? deadline_ms - now_ms() : 0;
            const bool heard = turn(std::clamp<std::int64_t>(left_ms, 0, limits::kafka_poll_slice_ms_max));
            if (!heard && !x_events.empty()) break;
            if (!heard && x_recall == recall::none) supervise();
            if (!heard && now_ms() >= deadline_ms) break;
        }
        // The queue rings only when it was empty: what stays in it would never be announced.
        if (x_has_failed)
            leave(0);
        else if (x_recall == recall::told || x_membership->has_more())
            x_bell->ring_again();
        return std::exchange(x_events, {});
    }

    void pause(const topic_partition& where) override {
        const auto found = x_assigned.find(where);
        if (found == x_assigned.end() || x_recall != recall::none) return;
        found->second.is_paused = true;
        x_membership->pause(where);
    }

    void resume(const topic_partition& where) override {
        const auto found = x_assigned.find(where);
        if (found == x_assigned.end() || x_recall != recall::none) return;
        found->second.is_paused = false;
        found->second.progress_ms = now_ms();
        x_membership->resume(where);
    }

    void commit(const topic_partition& where, std::uint64_t epoch, std::int64_t next_offset,
                std::string metadata) override {
        const auto found = x_assigned.find(where);
        if (found == x_assigned.end() || found->second.epoch != epoch) return;
        x_to_commit.insert_or_assign(where, committed_offset{where, next_offset, std::move(metadata)});
    }

    void release(const topic_partition& where, std::uint64_t epoch) override {
        const auto found = x_assigned.find(where);
        if (x_recall != recall::asked || found == x_assigned.end() || found->second.epoch != epoch) return;
        x_assigned.erase(found);  // its commit, if any, is sent with those of the others
        if (x_assigned.empty()) let_go();
    }

  private:
    /// How far the coordinator's wish to have all partitions back has got.
    enum class recall : std::uint8_t {
        none,
        asked,  // the owner was told, and releases one after the other
        told,   // those that are left were revoked; the next poll() lets go
    };
    struct partition_state {
        std::uint64_t epoch = 0;
        std::int64_t next_offset = 0;
        std::int64_t progress_ms = 0;
        bool is_paused = false;
    };

    void join() {
        result<std::shared_ptr<membership>> joined = membership::join(x_installed, x_group, x_topics, x_bell);
        if (joined)
            x_membership = std::move(*joined);
        else
            fail(joined.error());
    }

    void fail(error reason) {
        x_has_failed = true;
        x_events.emplace_back(member_failure{std::move(reason)});
    }

    void leave(std::int64_t wait_ms) {
        if (x_membership == nullptr) return;
        send_commits();
        x_membership->close(wait_ms);
        x_membership.reset();
        x_assigned.clear();
    }

    /// One step: a change of the group, an answer, or a record. False when nothing came within `wait_ms`.
    bool turn(std::int64_t wait_ms) {
        const auto committed = x_membership->take_committed();
        if (committed) take_offsets(*committed);
        if (x_has_failed) return true;
        if (x_ask_again_ms != 0 && now_ms() >= x_ask_again_ms) {
            x_ask_again_ms = 0;
            x_membership->ask_committed(x_offered);
        }
        // While the offsets are being asked for, nothing is read, but the group may change again.
        const message_pointer message =
            x_membership->next(x_offered.empty() ? wait_ms : std::min(wait_ms, limits::kafka_offered_ms_max));
        const std::optional<group_change> change = x_membership->take_change();
        if (change && std::holds_alternative<offered>(*change))
            take_offer(std::get<offered>(*change));
        else if (change)
            take_back(std::get<taken_back>(*change));
        if (message != nullptr) take(*message);
        return message != nullptr || change || committed;
    }

    // ---- the group
    // ---------------------------------------------------------------------------------------------

    void take_offer(const offered& change) {
        x_offered = change.partitions;
        x_ask_again_ms = 0;
        if (x_offered.empty())
            x_membership->begin({});
        else
            x_membership->ask_committed(x_offered);
    }

    void take_offsets(const result<std::vector<committed_offset>>& answer) {
        if (x_offered.empty()) return;
        if (!answer) {  // the coordinator is moving or loading
            x_ask_again_ms = now_ms() + ask_again_ms;
            return;
        }
        for (const committed_offset& each : *answer)
            if (each.next_offset < 0)
                return fail(runtime::failed_precondition(
                    {"group ", x_group, " has no committed offset for ", text_of(each.where),
                     "; `herald groups --reset` goes on from what the log still has"}));
        x_membership->begin(*answer);
        ++x_epoch;
        for (const committed_offset& each : *answer) {
            x_assigned[each.where] = {x_epoch, each.next_offset, now_ms(), false};
            x_events.emplace_back(assigned{each.where, each.next_offset, each.metadata, x_epoch});
        }
        x_offered.clear();
    }

    void take_back(const taken_back& change) {
        x_offered.clear();
        x_ask_again_ms = 0;
        if (change.is_lost || x_must_rejoin) return take_away();
        if (x_assigned.empty()) return let_go();
        if (std::exchange(x_recall, recall::asked) != recall::none) return;
        x_recall_until_ms = now_ms() + limits::recall_ms_max;
        for (const auto& [where, state] : x_assigned) x_events.emplace_back(recalled{where, state.epoch});
    }

    /// Assigned partitions stay assigned until the next poll(): commits until then still count.
    void take_away() {
        for (const auto& [where, state] : x_assigned) x_events.emplace_back(revoked{where, state.epoch});
        x_recall = recall::told;
        if (x_assigned.empty() && !x_must_rejoin) let_go();
    }

    void let_go() {
        x_recall = recall::none;
        x_owed.reset();
        if (std::exchange(x_must_rejoin, false)) return leave(0);
        send_commits();  // sent before the request to join again
        x_assigned.clear();
        x_membership->let_go();
    }

    void send_commits() {
        std::vector<committed_offset> all;
        for (auto& [where, each] : x_to_commit) all.push_back(std::move(each));
        x_to_commit.clear();
        if (!all.empty()) x_membership->commit(all);
    }

    // ---- records
    // -----------------------------------------------------------------------------------------------

    void take(const rd_kafka_message_t& message) {
        if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR && message.err != RD_KAFKA_RESP_ERR__PARTITION_EOF)
            return take_complaint(message);
        const topic_partition where{x_installed->topic_of_name(rd_kafka_topic_name(message.rkt)),
                                    message.partition};
        const auto found = x_assigned.find(where);
        if (found == x_assigned.end() || x_recall != recall::none) return;  // the next owner reads it
        partition_state& state = found->second;
        state.progress_ms = now_ms();
        x_installed->members.works(x_full_name);
        if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            state.next_offset = std::max(state.next_offset, message.offset);
            return;
        }
        state.next_offset = message.offset + 1;
        record made = record_of(message);
        x_bytes += bytes_of(made);
        x_events.emplace_back(consumed{where, state.epoch, std::move(made)});
    }

    void take_complaint(const rd_kafka_message_t& message) {
        const std::string text = rd_kafka_message_errstr(&message);
        if (message.err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET) {
            const topic_partition where{x_installed->topic_of_name(rd_kafka_topic_name(message.rkt)),
                                        message.partition};
            const auto found = x_assigned.find(where);
            const std::int64_t offset = found == x_assigned.end() ? -1 : found->second.next_offset;
            return fail(runtime::failed_precondition(
                {"group ", x_group, ": offset ", offset, " of ", text_of(where), " is not in the log (", text,
                 "); `herald groups --reset` goes on from what it still has"}));
        }
        x_installed->members.fails(text, x_full_name);
        if (says_unknown(message.err))
            x_suspects = x_topics;  // one of them is gone, or a broker has only just started
        else if (x_membership->is_replaced())
            fail(runtime::failed_precondition(
                {"group ", x_group, ": another worker has joined with the name ",
                 x_installed->options.member_name, "; each worker must have a --worker-id of its own"}));
        else if (message.err == RD_KAFKA_RESP_ERR__FATAL)
            rejoin();
    }

    // ---- the watch
    // ---------------------------------------------------------------------------------------------

    /// Nothing came. Is there nothing, is the client broken (kafka.md §2), or is a topic gone?
    void supervise() {
        if (const auto answer = x_question.take()) judge(*answer);
        if (x_has_failed || x_question.is_open()) return;
        if (!x_suspects.empty()) {
            ask({x_suspects.back(), 0});
            x_suspects.pop_back();
            return;
        }
        if (x_owed) {
            const auto found = x_assigned.find(x_asked);
            if (found == x_assigned.end() || found->second.is_paused || found->second.next_offset > *x_owed)
                x_owed.reset();
            else if (now_ms() - x_owed_since_ms > limits::kafka_overdue_ms_max)
                rejoin();
            return;
        }
        for (auto& [where, state] : x_assigned) {
            if (state.is_paused || now_ms() - state.progress_ms < limits::kafka_member_silent_ms_max)
                continue;
            state.progress_ms = now_ms();
            return ask(where);
        }
    }

    void ask(const topic_partition& where) {
        x_asked = where;
        x_question.ask(*x_questions, where, [ready = x_bell] { ready->ring(); });
    }

    void judge(const result<offset_range>& answer) {
        if (!answer) {
            if (answer.error().code == error_code::failed_precondition) fail(answer.error());
            return;
        }
        const auto found = x_assigned.find(x_asked);
        if (found == x_assigned.end() || answer->next <= found->second.next_offset) return;
        x_owed = found->second.next_offset;
        x_owed_since_ms = now_ms();
    }

    /// All partitions were given back; the next poll() joins with a new client.
    void rejoin() {
        runtime::log(runtime::log_level::warning, runtime::log_events::kafka_member_replaced,
                     {{"group", x_group}});
        x_must_rejoin = true;
        x_owed.reset();
        take_back({});
    }

    const std::shared_ptr<installation> x_installed;
    const std::shared_ptr<range_questions> x_questions;
    const std::string x_group;
    const std::string x_full_name = x_installed->name_of_group(x_group);  // as Kafka has it
    const std::vector<std::string> x_topics;
    const std::shared_ptr<bell> x_bell = std::make_shared<bell>();

    std::shared_ptr<membership> x_membership;
    std::vector<member_event> x_events;  // of the current poll()
    std::size_t x_bytes = 0;             // of the records in x_events
    bool x_has_failed = false;
    std::uint64_t x_epoch = 0;
    std::map<topic_partition, partition_state> x_assigned;
    std::map<topic_partition, committed_offset> x_to_commit;
    std::vector<topic_partition> x_offered;  // ours once we know where to begin
    std::int64_t x_ask_again_ms = 0;         // 0: no question is due
    recall x_recall = recall::none;
    std::int64_t x_recall_until_ms = 0;  // then it does not wait for the owner any more
    bool x_must_rejoin = false;

    leader_question x_question;
    topic_partition x_asked;
    std::optional<std::int64_t> x_owed;  // this record of x_asked is in the log and did not come
    std::int64_t x_owed_since_ms = 0;
    std::vector<std::string> x_suspects;  // topics that may have been deleted
};

}  // namespace

std::unique_ptr<group_member> make_group_member(std::shared_ptr<installation> installed,
                                                std::shared_ptr<range_questions> questions,
                                                const std::string& group,
                                                const std::vector<std::string>& topics) {
    return std::make_unique<kafka_member>(std::move(installed), std::move(questions), group, topics);
}

}  // namespace herald::events::log::kafka
