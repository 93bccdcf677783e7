#include "events/subscriber_table.hpp"

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "events/limits.hpp"
#include "events/log/topics.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/text.hpp"
#include "schemas/binary.hpp"

namespace herald::events {
namespace {

using log::offset_range;
using log::partitioned_log;
using log::record;

/// How often the leader is asked when nothing comes, so that at_end_ms() stays fresh, and how long a broken
/// reader rests.
constexpr std::int64_t poll_interval_ms = 1'000;

/// The rows and the head, made of the topic's records in their order.
class table_content {
  public:
    using presence = subscriber_table::presence;

    /// False when the record changed nothing.
    bool take(const record& what) {
        if (what.key == subscribers_head_key) return take_head(what);
        const std::optional<std::uint64_t> number = runtime::parse_decimal(what.key);
        if (!number) return false;
        const schemas::webhook_id id{*number};
        if (what.value) return take_row(id, what);
        x_deleted_since_head += x_rows.erase(id);
        return x_deleted.insert(id).second;
    }

    presence presence_of(schemas::webhook_id id) const {
        if (x_rows.contains(id)) return presence::present;
        return x_deleted.contains(id) ? presence::deleted : presence::unknown;
    }
    const schemas::subscriber* find(schemas::webhook_id id) const {
        const auto place = x_rows.find(id);
        return place == x_rows.end() ? nullptr : &place->second.row;
    }
    const schemas::subscribers_head& head() const { return x_head; }
    /// Of those that the head counts.
    std::uint64_t rows_missing() const {
        const std::uint64_t seen = x_rows.size() + x_deleted_since_head;
        return x_head.rows > seen ? x_head.rows - seen : 0;
    }
    std::size_t disabled_count() const {
        return static_cast<std::size_t>(std::count_if(
            x_rows.begin(), x_rows.end(), [](const auto& row) { return !row.second.row.enabled; }));
    }
    /// From now on a webhook that is switched off leaves a line in the log: what was read is news.
    void tell_news() { x_tells_news = true; }

  private:
    struct entry {
        std::uint64_t revision_seen = 0;
        schemas::subscriber row;
    };

    bool take_row(schemas::webhook_id id, const record& what) {
        auto row = schemas::decode<schemas::subscriber>(*what.value);
        if (!row || row->webhook_id != id) {
            runtime::log(runtime::log_level::error, runtime::log_events::record_unreadable,
                         {{"topic", log::topic::subscribers}, {"offset", what.offset}});
            return false;
        }
        if (x_deleted.contains(id)) return false;
        entry& kept = x_rows[id];
        if (row->revision <= kept.revision_seen) return false;
        if (x_tells_news && kept.row.enabled && !row->enabled) tell_disabled(*row);
        kept = {row->revision, std::move(*row)};
        return true;
    }

    static void tell_disabled(const schemas::subscriber& row) {
        const std::string since =
            row.failing_since_ms == 0 ? std::string() : runtime::iso8601_ms(row.failing_since_ms);
        runtime::log(runtime::log_level::warning, runtime::log_events::webhook_disabled,
                     {{"webhook_id", static_cast<std::int64_t>(row.webhook_id.value)},
                      {"webhook_name", row.name},
                      {"reason", row.disabled_because},
                      {"failing_since", since}});
    }

    bool take_head(const record& what) {
        const auto head = schemas::decode<schemas::subscribers_head>(what.value.value_or(""));
        if (!head || *head == x_head) return false;
        const bool is_same_place = head->generation == x_head.generation && head->offset == x_head.offset;
        if (!is_same_place && reaches(x_head, head->generation, head->offset)) return false;
        // What an earlier generation did after the point that this one was made from counts no longer.
        if (head->generation > 1 && head->generation != x_head.generation) {
            x_deleted.clear();
            for (auto& [id, kept] : x_rows) kept.revision_seen = 0;
        }
        x_head = *head;
        x_deleted_since_head = 0;
        return true;
    }

    std::unordered_map<schemas::webhook_id, entry> x_rows;
    std::unordered_set<schemas::webhook_id> x_deleted;
    schemas::subscribers_head x_head;
    std::size_t x_deleted_since_head = 0;
    bool x_tells_news = false;
};

class log_subscriber_table final : public subscriber_table,
                                   public std::enable_shared_from_this<log_subscriber_table> {
  public:
    log_subscriber_table(partitioned_log& from, runtime::scheduler& scheduler)
        : x_log(from), x_scheduler(scheduler) {}

    void start() { x_scheduler.post(guarded(&log_subscriber_table::tick)); }

    presence presence_of(schemas::webhook_id id) const override { return x_content.presence_of(id); }
    const schemas::subscriber* find(schemas::webhook_id id) const override { return x_content.find(id); }
    std::size_t disabled_count() const override { return x_content.disabled_count(); }
    schemas::subscribers_head head() const override {
        return x_content.rows_missing() > 0 ? schemas::subscribers_head{} : x_content.head();
    }
    /// A reader that hears nothing does not know whether there is nothing: its end counts only for as long as
    /// the leader answers.
    std::optional<std::int64_t> at_end_ms() const override {
        if (!x_at_end_ms) return std::nullopt;
        return std::min(*x_at_end_ms, x_leader_ms);
    }
    void on_change(std::function<void()> notify) override { x_notify = std::move(notify); }

  private:
    /// The table may be gone when the task runs.
    runtime::scheduler::task guarded(void (log_subscriber_table::*member)()) {
        return [weak = weak_from_this(), member] {
            if (const auto self = weak.lock()) ((*self).*member)();
        };
    }

    void tick() {
        if (x_reader) poll();
        if (!x_asking) ask();
        x_scheduler.run_at(x_scheduler.time().steady_ms() + poll_interval_ms,
                           guarded(&log_subscriber_table::tick));
    }

    /// A compacted topic starts at 0, unless somebody deleted records: its leader is asked. The log calls
    /// from threads of its own; they only post: were they to hold the table, it could end on one of them.
    void ask() {
        x_asking = true;
        x_asked_ms = x_scheduler.time().steady_ms();
        x_log.query_range(
            where(), [weak = weak_from_this(), &scheduler = x_scheduler](const result<offset_range>& range) {
                scheduler.post([weak, range] {
                    if (const auto self = weak.lock()) self->answered(range);
                });
            });
    }

    void answered(const result<offset_range>& range) {
        x_asking = false;
        if (!range) return;
        x_leader_ms = x_asked_ms;
        if (x_reader) return;
        x_reader = x_log.open_reader(where(), range->first);
        x_reader->on_ready(
            [task = guarded(&log_subscriber_table::poll), &scheduler = x_scheduler, posted = x_poll_posted] {
                if (!posted->exchange(true)) scheduler.post(task);
            });
        poll();
    }

    void poll() {
        x_poll_posted->store(false);
        if (!x_reader) return;
        result<log::read_batch> batch = x_reader->poll(limits::subscriber_records_per_poll_max, 0);
        if (!batch) {
            if (batch.error().code != error_code::failed_precondition) return;
            runtime::log(runtime::log_level::error, runtime::log_events::subscribers_unreadable,
                         {{"reason", batch.error().message}});
            x_reader.reset();
            return;
        }
        bool changed = false;
        for (const record& what : batch->records) changed |= x_content.take(what);
        if (batch->at_end) {
            changed |= !x_at_end_ms;
            x_at_end_ms = x_scheduler.time().steady_ms();
            x_content.tell_news();
            tell_of_missing_rows();
        } else if (!batch->records.empty() && !x_poll_posted->exchange(true)) {
            x_scheduler.post(guarded(&log_subscriber_table::poll));
        }
        if (changed && x_notify) x_notify();
    }

    /// Once for each head.
    void tell_of_missing_rows() {
        const std::uint64_t missing = x_content.rows_missing();
        if (missing == 0 || x_told_of == x_content.head()) return;
        x_told_of = x_content.head();
        runtime::log(runtime::log_level::error, runtime::log_events::subscribers_incomplete,
                     {{"missing", static_cast<std::int64_t>(missing)}});
    }

    static log::topic_partition where() { return {std::string(log::topic::subscribers), 0}; }

    partitioned_log& x_log;
    runtime::scheduler& x_scheduler;
    table_content x_content;
    std::function<void()> x_notify;
    std::unique_ptr<log::reader> x_reader;
    bool x_asking = false;
    std::int64_t x_asked_ms = 0;
    std::int64_t x_leader_ms = 0;  // when the newest question was asked that the leader answered
    const std::shared_ptr<std::atomic<bool>> x_poll_posted = std::make_shared<std::atomic<bool>>(false);
    std::optional<std::int64_t> x_at_end_ms;
    schemas::subscribers_head x_told_of;  // as lacking rows
};

}  // namespace

std::shared_ptr<subscriber_table> make_subscriber_table(partitioned_log& from,
                                                        runtime::scheduler& scheduler) {
    auto table = std::make_shared<log_subscriber_table>(from, scheduler);
    table->start();
    return table;
}

}  // namespace herald::events
