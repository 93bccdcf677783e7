#include "storage/embedded_log/log_committer.hpp"

#include <algorithm>

#include "events/log/limits.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/mutex.hpp"
#include "storage/embedded_log/limits.hpp"

namespace herald::storage::embedded_log {
namespace {

using events::log::record;
using events::log::topic_partition;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds reopen_delay_base{500};   // doubling
constexpr milliseconds reopen_delay_max{1'000};  // appends are accepted soon after the cause is gone
constexpr milliseconds broken_said_interval{60'000};
constexpr milliseconds company_wait_max{1};

std::string text_of(const topic_partition& where) {
    return where.topic + "/" + std::to_string(where.partition);
}

error not_open() { return runtime::unavailable("the log is closed"); }

error out_of_range(const log_partition& partition, std::int64_t offset) {
    return runtime::failed_precondition({"offset ", offset, " of ", text_of(partition.where),
                                         " is not in the log: it has ", partition.range.first, " to ",
                                         partition.range.next});
}

}  // namespace

// ---- beginning and end

log_committer::log_committer(const std::filesystem::path& folder, const embedded_log_options& options,
                             const runtime::clock& clock)
    : x_options(options), x_clock(clock), x_database(folder, options.open_files_max) {}

log_committer::~log_committer() { stop(); }

result<void> log_committer::start() {
    const result<log_contents> found = x_database.open();
    if (!found) return found.error();
    const result<log_time> time = log_time::begin(x_clock, found->newest_ms, x_options.leap);
    if (!time) return time.error();
    x_time = *time;
    x_expire_from_ms = found->expire_from_ms;
    if (x_time->has_leapt()) {  // stored, since the next start will not see the leap
        x_expire_from_ms = x_time->now_ms() + limits::log_clock_leap_held_ms;
        if (const auto kept = x_database.set_expire_from(x_expire_from_ms); !kept) return kept.error();
    }
    check_clock();
    const runtime::lock_guard lock(x_mutex);
    x_commits = found->commits;
    adopt(*found);
    x_is_stopping = false;
    x_thread = std::thread([this] { run(); });
    x_maintenance_thread = std::thread([this] { run_maintenance(); });
    return {};
}

void log_committer::stop() {
    {
        const runtime::lock_guard lock(x_mutex);
        if (std::exchange(x_is_stopping, true)) return;
        x_work.notify_all();
        x_maintenance_due.notify_all();
    }
    // They are not there when start() could not start them.
    for (std::thread* const each : {&x_thread, &x_maintenance_thread})
        if (each->joinable()) each->join();
    x_database.close();
    std::set<std::shared_ptr<events::log::bell>> to_ring;
    {
        const runtime::lock_guard lock(x_mutex);
        for (const auto& [where, partition] : x_partitions)
            for (const auto& bell : partition.bells) to_ring.insert(bell.lock());
    }
    to_ring.erase(nullptr);
    for (const auto& bell : to_ring) bell->ring();
}

/// Takes over what was found on disk. False when something that was there before is missing.
bool log_committer::adopt(const log_contents& found) {
    for (auto& [where, partition] : x_partitions) {
        const auto now = found.partitions.find(where);
        if (now == found.partitions.end() || now->second.next < partition.range.next) return false;
    }
    x_topics = found.topics;
    x_recent_order.clear();
    x_recent_bytes = 0;
    for (const auto& [where, range] : found.partitions) {
        const auto [entry, is_new] = x_partitions.try_emplace(where, where);
        log_partition& partition = entry->second;
        partition.recent.clear();
        partition.range = range;
        if (partition.is_compacted()) partition.range.first = 0;  // missing offsets there were superseded
        if (is_new) partition.uncompacted = range.next - range.first;
        for (const auto& bell : partition.bells) x_to_ring.insert(bell.lock());
    }
    x_to_ring.erase(nullptr);
    return true;
}

// ---- producers

void log_committer::pending_append::refuse(error reason) {
    outcome = std::move(reason);
    if (account->kind == events::log::producer_kind::strict) account->has_ended = true;
}

result<void> log_committer::takes_appends() const {
    const runtime::lock_guard lock(x_mutex);
    if (x_is_stopping) return not_open();
    if (x_broken_until) return runtime::unavailable(x_broken_why);
    return {};
}

result<void> log_committer::append(const account_pointer& account, const topic_partition& where,
                                   std::string key, std::optional<std::string> value,
                                   events::log::append_handler handler) {
    auto what = std::make_shared<record>(record{0, 0, std::move(key), std::move(value)});
    const std::size_t bytes = bytes_of(*what);
    const runtime::lock_guard lock(x_mutex);
    if (x_is_stopping) return runtime::aborted("the log is closed");
    if (account->has_ended) return runtime::aborted("this producer has ended");
    if (x_broken_until) {
        account->has_ended = account->kind == events::log::producer_kind::strict;
        return runtime::aborted(x_broken_why);
    }
    if (account->records >= limits::producer_records_unacknowledged_max ||
        account->bytes + bytes > limits::producer_bytes_unacknowledged_max)
        return runtime::resource_exhausted("too many records wait for the disk");
    const auto found = x_partitions.find(where);
    log_partition* const partition = found == x_partitions.end() ? nullptr : &found->second;
    pending_append added{account, partition, std::move(what), bytes, std::move(handler)};
    if (partition == nullptr)
        added.refuse(runtime::failed_precondition({"there is no ", text_of(where)}));
    else if (bytes > limits::record_bytes_max)
        added.refuse(runtime::invalid_argument({"a record of ", bytes, " bytes is too large"}));
    ++account->records;
    account->bytes += bytes;
    x_queue.push_back(std::move(added));
    if (x_queue.size() >= x_wake_at) x_work.notify_one();
    return {};
}

std::vector<events::log::append_handler> log_committer::take_handlers(std::deque<pending_append>& from,
                                                                      const account_pointer& account) {
    std::vector<events::log::append_handler> taken;
    for (pending_append& each : from)
        if (each.account == account && each.handler) taken.push_back(std::exchange(each.handler, nullptr));
    return taken;
}

void log_committer::close(const account_pointer& account) {
    std::vector<events::log::append_handler> unanswered;
    const auto add = [&](std::vector<events::log::append_handler> more) {
        std::move(more.begin(), more.end(), std::back_inserter(unanswered));
    };
    {
        const runtime::lock_guard lock(x_mutex);
        account->has_ended = true;
        if (std::this_thread::get_id() == x_thread.get_id()) {
            add(take_handlers(x_to_answer, account));
        } else if (x_is_answering) {
            const std::uint64_t round = x_answer_rounds;
            x_answered.wait(x_mutex, [this, round]() REQUIRES(x_mutex) {
                return !x_is_answering || x_answer_rounds != round;
            });
        }
        add(take_handlers(x_batch, account));
        add(take_handlers(x_queue, account));
        std::erase_if(x_queue, [&](const pending_append& each) { return each.account == account; });
    }
    for (const events::log::append_handler& each : unanswered)
        each(runtime::unavailable("the producer ended before the acknowledgement"));
}

// ---- the committing thread

void log_committer::run() {
    const runtime::lock_guard lock(x_mutex);
    while (true) {
        wait_for_work();
        if (x_broken_until && steady_clock::now() >= *x_broken_until) reopen();
        wait_for_company();
        take_batch();
        const log_write write = place_batch();
        if (!write.records.empty() || !write.commits.empty()) {
            const time_point start = steady_clock::now();
            result<void> written;
            {
                const runtime::unlock_guard unlocked(x_mutex);
                written = x_database.write(write);
            }
            x_write_time = steady_clock::now() - start;
            x_appenders = x_batch.size() + x_queue.size();
            settle(written, write);
        }
        answer();
        const bool is_done = x_queue.empty() && x_questions.empty() &&
                             (x_unwritten_commits.empty() || x_broken_until.has_value());
        if (x_is_stopping && is_done) return;
    }
}

void log_committer::wait_for_work() {
    while (!x_is_stopping && x_queue.empty() && x_questions.empty()) {
        time_point wake = time_point::max();
        if (x_broken_until)
            wake = *x_broken_until;
        else if (!x_unwritten_commits.empty())
            wake = x_commits_due;
        if (wake <= steady_clock::now()) return;
        x_work.wait_until(x_mutex, wake);
    }
}

/// Senders that were just answered often append again at once. Without waiting a moment, the first of them
/// would get a sync of its own and all others would wait for two syncs.
void log_committer::wait_for_company() {
    if (x_queue.empty() || x_broken_until) return;
    x_wake_at = x_appenders;
    x_work.wait_for(x_mutex, std::min<steady_clock::duration>(x_write_time / 8, company_wait_max),
                    [this]() REQUIRES(x_mutex) { return x_is_stopping || x_queue.size() >= x_appenders; });
    x_wake_at = 1;
}

result<log_contents> log_committer::open_again() {
    const runtime::unlock_guard unlocked(x_mutex);
    return x_database.reopen();
}

void log_committer::reopen() {
    const result<log_contents> found = open_again();
    if (found && adopt(*found)) {
        x_broken_until.reset();
        x_broken_why.clear();
        runtime::log(runtime::log_level::info, runtime::log_events::log_recovered);
        return;
    }
    x_reopen_delay = std::min(2 * x_reopen_delay, reopen_delay_max);
    x_broken_until = steady_clock::now() + x_reopen_delay;
    say_broken(found ? "records that were there are missing" : found.error().message);
}

/// Logged once a minute while it lasts. Callers of the API do not see folders or RocksDB's words.
void log_committer::say_broken(const std::string& why) {
    const time_point now = steady_clock::now();
    if (x_broken_why.empty() || now - x_broken_said >= broken_said_interval) {
        runtime::log(runtime::log_level::error, runtime::log_events::log_not_written, {{"reason", why}});
        x_broken_said = now;
    }
    const bool is_full = why.find("No space left") != std::string::npos;
    x_broken_why = is_full ? "the disk is full; the log will be written again as soon as there is room"
                           : "the log cannot be written now; the log of this process has the reason, and "
                             "Herald tries again every second";
}

void log_committer::take_batch() {
    std::size_t bytes = 0;
    while (!x_queue.empty() && x_batch.size() < limits::log_batch_records_max &&
           bytes < limits::log_batch_bytes_max) {
        bytes += x_queue.front().bytes;
        x_batch.push_back(std::move(x_queue.front()));
        x_queue.pop_front();
    }
}

/// Assigns offsets to the batch's records.
log_write log_committer::place_batch() {
    log_write write;
    if (x_broken_until) return write;
    const std::int64_t now_ms = time_ms();
    std::map<log_partition*, std::int64_t> next;
    for (pending_append& each : x_batch) {
        if (!each.outcome) continue;
        const auto place = next.try_emplace(each.partition, each.partition->range.next).first;
        each.what->offset = place->second++;
        each.what->time_ms = now_ms;
        each.outcome = each.what->offset;
        write.synced = write.synced || each.partition->is_durable();
        write.records.push_back({&each.partition->where, each.what.get()});
    }
    const bool commits_are_due =
        x_is_stopping || !write.records.empty() || steady_clock::now() >= x_commits_due;
    if (!commits_are_due) return write;
    for (const commit_key& each : std::exchange(x_unwritten_commits, {}))
        write.commits[each] = x_commits[each];
    return write;
}

void log_committer::settle(const result<void>& written, const log_write& write) {
    if (!written) {
        for (const auto& [key, commit] : write.commits) x_unwritten_commits.insert(key);
        return fail_batch(written.error());
    }
    for (const pending_append& each : x_batch)
        if (each.outcome) publish(each);
    while (x_recent_bytes > x_options.recent_bytes_max) {
        log_partition& oldest = *x_recent_order.front();
        x_recent_bytes -= bytes_of(*oldest.recent.front()) + sizeof(record);
        oldest.recent.pop_front();
        x_recent_order.pop_front();
    }
}

void log_committer::publish(const pending_append& appended) {
    log_partition& partition = *appended.partition;
    partition.range.next = appended.what->offset + 1;
    partition.recent.push_back(appended.what);
    ++partition.uncompacted;
    x_recent_order.push_back(&partition);
    x_recent_bytes += appended.bytes + sizeof(record);
    for (const auto& bell : partition.bells)
        if (auto alive = bell.lock()) x_to_ring.insert(std::move(alive));
}

/// It is unknown whether the batch is on disk. Only reopening the database shows that.
void log_committer::fail_batch(const error& reason) {
    say_broken(reason.message);
    x_broken_until = steady_clock::now();
    x_reopen_delay = reopen_delay_base;
    const std::string text = "the log could not be written: " + x_broken_why;
    for (pending_append& each : x_batch)
        if (each.outcome) each.refuse(runtime::unavailable(text));
    // Queued appends fail with it: those of a strict producer must not be stored after a failure.
    for (pending_append& each : x_queue)
        if (each.outcome) each.refuse(runtime::aborted(text));
}

/// Notifies readers first, so that what was appended is read back sooner.
void log_committer::answer() {
    x_to_answer.swap(x_batch);
    for (const pending_append& each : x_to_answer) {
        --each.account->records;
        each.account->bytes -= each.bytes;
    }
    std::vector<std::pair<events::log::range_handler, result<events::log::offset_range>>> told;
    for (pending_question& each : std::exchange(x_questions, {}))
        told.emplace_back(std::move(each.handler),
                          each.partition != nullptr
                              ? result<events::log::offset_range>(each.partition->range)
                              : runtime::failed_precondition("there is no such topic and partition"));
    const auto to_ring = std::exchange(x_to_ring, {});
    x_is_answering = true;
    {
        const runtime::unlock_guard unlocked(x_mutex);
        for (const auto& bell : to_ring) bell->ring();
        for (pending_append& each : x_to_answer)  // a handler may remove other producers' answers (close)
            if (const auto handler = std::exchange(each.handler, nullptr)) handler(std::move(each.outcome));
        for (auto& [handler, range] : told) handler(std::move(range));
        x_to_answer.clear();
    }
    x_is_answering = false;
    ++x_answer_rounds;
    x_answered.notify_all();
}

// ---- readers

log_partition* log_committer::find(const topic_partition& where) {
    const runtime::lock_guard lock(x_mutex);
    const auto found = x_partitions.find(where);
    return found == x_partitions.end() ? nullptr : &found->second;
}

void log_committer::hang(log_partition& partition, const std::shared_ptr<events::log::bell>& bell) {
    const runtime::lock_guard lock(x_mutex);
    std::erase_if(partition.bells, [](const auto& each) { return each.expired(); });
    partition.bells.push_back(bell);
}

result<events::log::read_batch> log_committer::read(log_partition& partition, std::int64_t from,
                                                    std::size_t records_max) {
    events::log::read_batch batch;
    std::vector<std::shared_ptr<const record>> recent;
    std::int64_t next = 0;
    {
        const runtime::lock_guard lock(x_mutex);
        if (x_is_stopping) return not_open();
        next = partition.range.next;
        if (from < partition.range.first || from > next) return out_of_range(partition, from);
        const std::int64_t first_recent = partition.recent.empty() ? next : partition.recent.front()->offset;
        std::size_t bytes = 0;
        for (std::int64_t at = from; from >= first_recent && at < next; ++at) {
            if (recent.size() >= records_max || bytes >= limits::log_read_bytes_max) break;
            recent.push_back(partition.recent[static_cast<std::size_t>(at - first_recent)]);
            bytes += bytes_of(*recent.back());
        }
    }
    for (const auto& each : recent) batch.records.push_back(*each);
    if (recent.empty() && from < next) {
        result<std::vector<record>> found =
            x_database.read(partition.where, from, next, records_max, limits::log_read_bytes_max);
        if (!found) return found.error();
        batch.records = std::move(*found);
        // Retention may have run in between. (Only compaction leaves holes.)
        if (batch.records.empty() || (!partition.is_compacted() && batch.records.front().offset != from)) {
            const runtime::lock_guard lock(x_mutex);
            return out_of_range(partition, from);
        }
    }
    batch.at_end = batch.records.empty() || batch.records.back().offset == next - 1;
    return batch;
}

void log_committer::query_range(const topic_partition& where, events::log::range_handler handler) {
    {
        const runtime::lock_guard lock(x_mutex);
        if (!x_is_stopping) {
            const auto found = x_partitions.find(where);
            log_partition* const partition = found == x_partitions.end() ? nullptr : &found->second;
            x_questions.push_back({partition, std::move(handler)});
            x_work.notify_one();
            return;
        }
    }
    handler(not_open());
}

// ---- topics

result<std::int32_t> log_committer::partitions(const std::string& topic) {
    const runtime::lock_guard lock(x_mutex);
    const auto found = x_topics.find(topic);
    if (found == x_topics.end()) return runtime::not_found({"there is no topic ", topic});
    return found->second;
}

result<void> log_committer::create_topics() {
    const runtime::lock_guard creating(x_creating);
    log_write write;
    {
        const runtime::lock_guard lock(x_mutex);
        if (x_is_stopping) return not_open();
        for (const events::log::topic_settings& each : events::log::all_topics) {
            const std::string name(each.name);
            const auto present = x_topics.find(name);
            const std::int32_t count = present == x_topics.end() ? each.partitions : present->second;
            if (present == x_topics.end()) write.topics[name] = count;
            for (std::int32_t partition = 0; !each.group.empty() && partition < count; ++partition) {
                const commit_key key{std::string(each.group), {name, partition}};
                if (!x_commits.contains(key)) write.commits[key] = {};
            }
        }
    }
    if (write.topics.empty() && write.commits.empty()) return {};
    write.synced = true;
    const result<void> written = x_database.write(write);
    if (!written) return written;
    const runtime::lock_guard lock(x_mutex);
    x_commits.insert(write.commits.begin(), write.commits.end());
    for (const auto& [name, count] : write.topics) {
        x_topics[name] = count;
        for (std::int32_t partition = 0; partition < count; ++partition) {
            const topic_partition where{name, partition};
            x_partitions.try_emplace(where, where);
        }
    }
    return {};
}

}  // namespace herald::storage::embedded_log
