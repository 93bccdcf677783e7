#include "events/subscriber_table.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "events/log/tail.hpp"
#include "events/log/topics.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/text.hpp"
#include "schemas/binary.hpp"

namespace herald::events {
namespace {

using log::partitioned_log;
using log::record;

/// The rows and the head, built from the topic's records in order.
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
    /// How many of the rows that the head counts are missing.
    std::uint64_t rows_missing() const {
        const std::uint64_t seen = x_rows.size() + x_deleted_since_head;
        return x_head.rows > seen ? x_head.rows - seen : 0;
    }
    std::size_t disabled_count() const {
        return static_cast<std::size_t>(std::count_if(
            x_rows.begin(), x_rows.end(), [](const auto& row) { return !row.second.row.enabled; }));
    }
    /// From here on everything read is new, so a webhook that is switched off gets a log line.
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
                      {"webhook_name", row.settings.name},
                      {"reason", row.disabled_because},
                      {"failing_since", since}});
    }

    bool take_head(const record& what) {
        const auto head = schemas::decode<schemas::subscribers_head>(what.value.value_or(""));
        if (!head || *head == x_head) return false;
        const bool is_same_place = head->generation == x_head.generation && head->offset == x_head.offset;
        if (!is_same_place && reaches(x_head, head->generation, head->offset)) return false;
        // Changes that an earlier generation made after the point this one starts from no longer count.
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

class log_subscriber_table final : public subscriber_table {
  public:
    log_subscriber_table(partitioned_log& from, runtime::scheduler& scheduler)
        : x_scheduler(scheduler),
          // A compacted topic begins at 0 unless somebody deleted records, so its leader is asked.
          x_tail(
              from, scheduler, {std::string(log::topic::subscribers), 0},
              {[](const log::offset_range& range) { return range.first; },
               [this](const log::read_batch& batch) { take(batch); }, [](const error& why) { failed(why); }},
              log::asks_leader::every_second) {}

    presence presence_of(schemas::webhook_id id) const override { return x_content.presence_of(id); }
    const schemas::subscriber* find(schemas::webhook_id id) const override { return x_content.find(id); }
    std::size_t disabled_count() const override { return x_content.disabled_count(); }
    schemas::subscribers_head head() const override {
        return x_content.rows_missing() > 0 ? schemas::subscribers_head{} : x_content.head();
    }
    /// A silent reader cannot tell whether there is nothing to read: its end counts only while the leader
    /// answers.
    std::optional<std::int64_t> at_end_ms() const override {
        if (!x_at_end_ms) return std::nullopt;
        return std::min(*x_at_end_ms, x_tail.leader_heard_ms());
    }
    void on_change(std::function<void()> notify) override { x_notify = std::move(notify); }

  private:
    void take(const log::read_batch& batch) {
        bool is_changed = false;
        for (const record& what : batch.records) is_changed |= x_content.take(what);
        if (batch.at_end) {
            is_changed |= !x_at_end_ms;
            x_at_end_ms = x_scheduler.time().steady_ms();
            x_content.tell_news();
            tell_of_missing_rows();
        }
        if (is_changed && x_notify) x_notify();
    }

    static void failed(const error& why) {
        if (why.code != error_code::failed_precondition) return;
        runtime::log(runtime::log_level::error, runtime::log_events::subscribers_unreadable,
                     {{"reason", why.message}});
    }

    /// Once for each head.
    void tell_of_missing_rows() {
        const std::uint64_t missing = x_content.rows_missing();
        if (missing == 0 || x_told_of == x_content.head()) return;
        x_told_of = x_content.head();
        runtime::log(runtime::log_level::error, runtime::log_events::subscribers_incomplete,
                     {{"missing", static_cast<std::int64_t>(missing)}});
    }

    runtime::scheduler& x_scheduler;
    table_content x_content;
    std::function<void()> x_notify;
    std::optional<std::int64_t> x_at_end_ms;
    schemas::subscribers_head x_told_of;  // the head already reported as lacking rows
    log::tail x_tail;                     // destroyed first
};

}  // namespace

std::shared_ptr<subscriber_table> make_subscriber_table(partitioned_log& from,
                                                        runtime::scheduler& scheduler) {
    return std::make_shared<log_subscriber_table>(from, scheduler);
}

}  // namespace herald::events
