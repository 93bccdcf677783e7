#include "events/log/partition_scan.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace herald::events::log {
namespace {

constexpr std::size_t records_per_poll_max = 1'000;
/// In case the log forgets to say that it is ready.
constexpr std::int64_t poll_interval_ms = 1'000;

class log_partition_scan final : public partition_scan,
                                 public std::enable_shared_from_this<log_partition_scan> {
  public:
    log_partition_scan(partitioned_log& from, runtime::scheduler& scheduler, topic_partition where,
                       handlers tell)
        : x_log(from), x_scheduler(scheduler), x_where(std::move(where)), x_handlers(std::move(tell)) {}

    // The log calls from threads of its own. They only post: were they to hold the scan, even for a moment,
    // it could end on one of them.
    void start(std::int64_t offsets) {
        x_log.query_range(x_where, [weak = weak_from_this(), &scheduler = x_scheduler,
                                    offsets](const result<offset_range>& range) {
            scheduler.post([weak, offsets, range] {
                if (const auto self = weak.lock()) self->open(range, offsets);
            });
        });
    }

  private:
    void open(const result<offset_range>& range, std::int64_t offsets) {
        if (!range) return finish(range.error());
        x_first = range->first;
        x_next = range->next;
        if (x_first >= x_next) return finish(true);
        x_from = std::max(x_first, offsets > x_next ? 0 : x_next - offsets);
        x_reader = x_log.open_reader(x_where, x_from);
        x_reader->on_ready([weak = weak_from_this(), &scheduler = x_scheduler, posted = x_poll_posted] {
            if (posted->exchange(true)) return;
            scheduler.post([weak] {
                if (const auto self = weak.lock()) self->poll();
            });
        });
        tick();
    }

    void tick() {
        poll();
        if (!x_reader) return;
        x_scheduler.run_at(x_scheduler.time().steady_ms() + poll_interval_ms, [weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->tick();
        });
    }

    void poll() {
        x_poll_posted->store(false);
        while (x_reader) {
            const result<read_batch> batch = x_reader->poll(records_per_poll_max, 0);
            if (!batch && batch.error().code == error_code::unavailable) return;
            if (!batch) return finish(batch.error());
            if (!batch->records.empty()) x_handlers.found(batch->records);
            // A compacted partition may have a hole where its last record was: then only the log knows the
            // end.
            const bool last_seen = !batch->records.empty() && batch->records.back().offset >= x_next - 1;
            if (last_seen || batch->at_end) return finish(x_from == x_first);
            if (batch->records.empty()) return;
        }
    }

    void finish(result<bool> outcome) {
        x_reader.reset();
        const auto done = std::exchange(x_handlers.done, nullptr);
        if (done) done(std::move(outcome));
    }

    partitioned_log& x_log;
    runtime::scheduler& x_scheduler;
    const topic_partition x_where;
    handlers x_handlers;
    std::unique_ptr<reader> x_reader;
    std::int64_t x_first = 0;
    std::int64_t x_next = 0;
    std::int64_t x_from = 0;
    const std::shared_ptr<std::atomic<bool>> x_poll_posted = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace

std::shared_ptr<partition_scan> scan_partition(partitioned_log& from, runtime::scheduler& scheduler,
                                               topic_partition where, std::int64_t offsets,
                                               partition_scan::handlers handlers) {
    auto scan = std::make_shared<log_partition_scan>(from, scheduler, std::move(where), std::move(handlers));
    scan->start(offsets);
    return scan;
}

}  // namespace herald::events::log
