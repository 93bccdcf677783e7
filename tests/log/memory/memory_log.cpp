#include "tests/log/memory/memory_log.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "events/log/limits.hpp"
#include "runtime/assert.hpp"
#include "runtime/mutex.hpp"
#include "tests/log/memory/memory_state.hpp"

namespace herald::events::log::memory {

namespace {

// ---- appending

/// What a producer shares with the tasks that send and answer. Guarded by the state's lock; handlers run
/// without it.
class memory_outbox : public std::enable_shared_from_this<memory_outbox> {
  public:
    memory_outbox(process_pointer process, producer_kind kind)
        : x_process(std::move(process)), x_kind(kind) {}

    result<void> append(memory_append what, append_handler handler) {
        const memory_lock lock(x_process->state);
        if (x_has_ended) return runtime::aborted("this producer has ended");
        const std::size_t bytes = what.key.size() + (what.value ? what.value->size() : 0);
        if (x_handlers.size() >= limits::producer_records_unacknowledged_max ||
            x_bytes + bytes > limits::producer_bytes_unacknowledged_max)
            return runtime::resource_exhausted("too many records wait for an acknowledgement");
        const std::uint64_t id = ++x_last_id;
        x_handlers.emplace(id, unanswered{std::move(handler), bytes});
        x_bytes += bytes;
        if (bytes > limits::record_bytes_max)
            owe(id,
                runtime::invalid_argument("a record of " + std::to_string(bytes) + " bytes is too large"));
        else if (x_process->state->find(what.where) == nullptr)
            owe(id, runtime::failed_precondition("there is no " + text_of(what.where)));
        else
            x_waiting.push_back({id, std::move(what)});
        plan_send();
        return {};
    }

    /// Answers everything; waits for a handler that is running on another thread.
    void close() {
        std::map<std::uint64_t, unanswered> left;
        {
            const runtime::lock_guard lock(x_process->state->mutex);
            x_has_ended = true;
            x_waiting.clear();
            x_owed.clear();
            left.swap(x_handlers);
            x_idle.wait(x_process->state->mutex, [this] {
                return x_answering_on == std::thread::id() || x_answering_on == std::this_thread::get_id();
            });
        }
        for (auto& [id, each] : left)
            each.handler(runtime::unavailable("the producer ended before the acknowledgement"));
    }

  private:
    struct unanswered {
        append_handler handler;
        std::size_t bytes = 0;
    };
    struct waiting_record {
        std::uint64_t id = 0;
        memory_append what;
    };

    void post(void (memory_outbox::*what)()) {
        x_process->state->outgoing.emplace_back(x_process->post,
                                                [self = shared_from_this(), what] { ((*self).*what)(); });
    }

    void plan_send() {
        if (x_waiting.empty() || x_is_stuck || std::exchange(x_send_is_posted, true)) return;
        post(&memory_outbox::send);
    }

    void send() {
        const memory_lock lock(x_process->state);
        x_send_is_posted = false;
        if (x_waiting.empty() || x_process->is_dead) return;
        const topic_partition where = x_waiting.front().what.where;
        const auto same = [&](const waiting_record& each) { return each.what.where == where; };
        const auto count = std::count_if(x_waiting.begin(), x_waiting.end(), same);
        const batch_plan plan = x_process->faults->next_batch(where, static_cast<std::size_t>(count));
        std::vector<std::uint64_t> ids;
        std::vector<memory_append> batch;
        for (auto each = x_waiting.begin(); each != x_waiting.end();) {
            const bool taken = same(*each) && (batch.empty() || batch.size() < plan.records);
            if (taken) {
                ids.push_back(each->id);
                batch.push_back(std::move(each->what));
            }
            each = taken ? x_waiting.erase(each) : std::next(each);
        }
        settle(plan.fate, ids, std::move(batch));
        plan_send();
    }

    void settle(batch_fate fate, const std::vector<std::uint64_t>& ids, std::vector<memory_append> batch) {
        const bool lands = fate != batch_fate::rejected && fate != batch_fate::not_sent &&
                           fate != batch_fate::held && fate != batch_fate::swallowed;
        const bool is_unheard = fate == batch_fate::unanswered || fate == batch_fate::swallowed;
        const bool fails = fate == batch_fate::answer_lost || (!lands && !is_unheard);
        std::vector<std::int64_t> offsets(batch.size(), -1);
        for (std::size_t i = 0; lands && i < batch.size(); ++i)
            offsets[i] = x_process->state->append(batch[i]);
        for (std::size_t i = 0; fate == batch_fate::duplicated && i < batch.size(); ++i)
            x_process->state->append(batch[i]);
        for (std::size_t i = 0; !is_unheard && i < ids.size(); ++i) {
            if (fate == batch_fate::not_sent)
                owe(ids[i], runtime::aborted("the log is out of reach"));
            else if (fails)
                owe(ids[i], runtime::unavailable("the outcome of the append is unknown"));
            else
                owe(ids[i], fate == batch_fate::offset_unknown ? -1 : offsets[i]);
        }
        if (fate == batch_fate::held) x_process->state->held.push_back(std::move(batch));
        x_is_stuck = x_is_stuck || (is_unheard && x_kind == producer_kind::strict);  // one batch at a time
    }

    void owe(std::uint64_t id, result<std::int64_t> outcome) {
        const bool ends = outcome.has_error() && x_kind == producer_kind::strict && !x_has_ended;
        x_owed.push_back({id, std::move(outcome)});
        post(&memory_outbox::answer);
        if (!ends) return;
        x_has_ended = true;
        for (const waiting_record& each : std::exchange(x_waiting, {}))
            owe(each.id, runtime::aborted("an earlier append of this producer failed"));
    }

    void answer() {
        append_handler handler;
        result<std::int64_t> outcome = 0;
        {
            const memory_lock lock(x_process->state);
            if (x_owed.empty()) return;
            const std::size_t index = x_process->faults->next_answer(x_owed.size());
            HERALD_ASSERT(index < x_owed.size());
            const auto chosen = x_owed.begin() + static_cast<std::ptrdiff_t>(index);
            const auto found = x_handlers.find(chosen->first);
            outcome = std::move(chosen->second);
            handler = std::move(found->second.handler);
            x_bytes -= found->second.bytes;
            x_owed.erase(chosen);
            x_handlers.erase(found);
            x_answering_on = std::this_thread::get_id();
        }
        handler(std::move(outcome));
        const memory_lock lock(x_process->state);
        x_answering_on = {};
        x_idle.notify_all();
    }

    const process_pointer x_process;
    const producer_kind x_kind;
    bool x_has_ended = false;
    bool x_is_stuck = false;
    bool x_send_is_posted = false;
    std::uint64_t x_last_id = 0;
    std::size_t x_bytes = 0;
    std::deque<waiting_record> x_waiting;
    std::map<std::uint64_t, unanswered> x_handlers;
    std::deque<std::pair<std::uint64_t, result<std::int64_t>>> x_owed;
    std::thread::id x_answering_on;
    runtime::condition_variable x_idle;
};

class memory_producer final : public producer {
  public:
    memory_producer(process_pointer process, producer_kind kind)
        : x_outbox(std::make_shared<memory_outbox>(std::move(process), kind)) {}
    ~memory_producer() override { x_outbox->close(); }

    result<void> append(const topic_partition& where, std::string key, std::optional<std::string> value,
                        append_handler handler) override {
        return x_outbox->append({where, std::move(key), std::move(value)}, std::move(handler));
    }

  private:
    const std::shared_ptr<memory_outbox> x_outbox;
};

// ---- reading

class memory_reader final : public reader {
  public:
    memory_reader(process_pointer process, topic_partition where, std::int64_t from_offset)
        : x_process(std::move(process)),
          x_where(std::move(where)),
          x_position(from_offset),
          x_bell(std::make_shared<memory_bell>(x_process->post)) {
        const memory_lock lock(x_process->state);
        if (memory_partition* partition = x_process->state->find(x_where)) partition->hang(x_bell);
    }
    ~memory_reader() override { x_bell->silence(); }

    result<read_batch> poll(std::size_t records_max, std::int64_t) override {
        const memory_lock lock(x_process->state);
        x_bell->rung = false;
        if (x_failure) return *x_failure;
        if (x_process->is_dead || !x_process->faults->reachable())
            return runtime::unavailable("the log is out of reach");
        const memory_partition* partition = x_process->state->find(x_where);
        x_failure = refusal(partition, x_where, x_position);
        if (x_failure) return *x_failure;
        read_batch batch;
        const std::size_t count = x_process->faults->next_poll(records_max);
        auto each = partition->from(x_position);
        for (; each != partition->records.end() && batch.records.size() < count; ++each)
            batch.records.push_back(*each);
        if (!batch.records.empty()) x_position = batch.records.back().offset + 1;
        batch.at_end = each == partition->records.end();
        if (!batch.at_end) x_process->state->ring(x_bell);
        return batch;
    }

    void on_ready(std::function<void()> notify) override {
        const memory_lock lock(x_process->state);
        x_bell->notify = std::move(notify);
        x_process->state->ring(x_bell);
    }

  private:
    const process_pointer x_process;
    const topic_partition x_where;
    std::int64_t x_position;
    const std::shared_ptr<memory_bell> x_bell;
    std::optional<error> x_failure;
};

result<offset_range> range_of(const memory_log::process& process, const topic_partition& where) {
    const memory_lock lock(process.state);
    if (!process.faults->reachable()) return runtime::unavailable("the log is out of reach");
    const memory_partition* partition = process.state->find(where);
    if (partition == nullptr) return runtime::failed_precondition("there is no " + text_of(where));
    const std::int64_t known = partition->next - process.faults->range_lag(where);
    return offset_range{partition->first, std::max(partition->first, known)};
}

memory_faults& no_faults() {
    static memory_faults none;
    return none;
}

}  // namespace

// ---- the log

memory_log::memory_log(memory_broker& broker, post_function post, memory_faults* faults)
    : x_process(std::make_shared<process>(
          process{broker.x_state, std::move(post), faults == nullptr ? &no_faults() : faults})) {}

memory_log::~memory_log() = default;

void memory_log::crash() {
    const memory_lock lock(x_process->state);
    x_process->is_dead = true;
}

std::unique_ptr<producer> memory_log::open_producer(producer_kind kind) {
    return std::make_unique<memory_producer>(x_process, kind);
}

std::unique_ptr<reader> memory_log::open_reader(const topic_partition& where, std::int64_t from_offset) {
    return std::make_unique<memory_reader>(x_process, where, from_offset);
}

std::unique_ptr<group_member> memory_log::join(const std::string& group,
                                               const std::vector<std::string>& topics) {
    return make_memory_member(x_process, group, topics);
}

void memory_log::query_range(const topic_partition& where, range_handler handler) {
    x_process->post(
        [process = x_process, where, handler = std::move(handler)] { handler(range_of(*process, where)); });
}

result<std::int32_t> memory_log::partitions(const std::string& topic) {
    const memory_lock lock(x_process->state);
    std::string missing;
    const auto found = x_process->state->partitions_of({topic}, missing);
    if (found.empty()) return runtime::not_found("there is no topic " + topic);
    return static_cast<std::int32_t>(found.size());
}

result<std::vector<std::int64_t>> memory_log::committed(const std::string& topic) {
    const memory_lock lock(x_process->state);
    const topic_settings* const known = find_topic(topic);
    if (known == nullptr || known->group.empty())
        return runtime::not_found("no group reads the topic " + topic);
    std::vector<std::int64_t> places;
    const auto& commits = x_process->state->groups[std::string(known->group)].commits;
    for (std::int32_t number = 0; x_process->state->find({topic, number}) != nullptr; ++number) {
        const auto found = commits.find({topic, number});
        places.push_back(found == commits.end() ? 0 : found->second.next_offset);
    }
    return places;
}

result<void> memory_log::create_topics() {
    const memory_lock lock(x_process->state);
    memory_state& state = *x_process->state;
    for (const topic_settings& each : all_topics) {
        const std::string name(each.name);
        if (state.find({name, 0}) == nullptr)
            for (std::int32_t partition = 0; partition < each.partitions; ++partition)
                state.partitions[{name, partition}].settings = &each;
        auto& commits = state.groups[std::string(each.group)].commits;
        for (std::int32_t partition = 0; !each.group.empty() && partition < each.partitions; ++partition)
            commits.try_emplace({name, partition});
    }
    return {};
}

}  // namespace herald::events::log::memory
