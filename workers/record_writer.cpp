// Repeating appends until the log has them.
#include "workers/record_writer.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "events/event_topic.hpp"
#include "events/subscriber_table.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/mutex.hpp"
#include "schemas/binary.hpp"
#include "workers/limits.hpp"

namespace herald::workers {

namespace {

constexpr std::int64_t pause_ms_first = 100;

bool is_refusal(const error& why) noexcept {
    return why.code == error_code::invalid_argument || why.code == error_code::failed_precondition;
}

}  // namespace

struct record_writer::pending {
    events::log::topic_partition where;
    std::string key;
    std::string value;
    std::function<bool()> wanted;                    // empty: a record of an attempt
    std::function<void(const result<void>&)> ended;  // likewise
    std::uint32_t tries = 0;
    std::int64_t pause_ms = pause_ms_first;
};

/// What the log has answered. It is added on the log's threads and taken on the scheduler's, all at once: a
/// task for each would cost a worker that lacks CPU more than the delivery itself.
class record_writer::outcomes {
  public:
    struct outcome {
        std::shared_ptr<pending> of;
        result<std::int64_t> what;
    };

    /// True when it is the first one that waits, so that somebody must come.
    bool add(outcome one) {
        const runtime::lock_guard lock(x_mutex);
        x_waiting.push_back(std::move(one));
        return x_waiting.size() == 1;
    }
    std::vector<outcome> take() {
        const runtime::lock_guard lock(x_mutex);
        return std::exchange(x_waiting, {});
    }

  private:
    runtime::mutex x_mutex;
    std::vector<outcome> x_waiting GUARDED_BY(x_mutex);
};

record_writer::record_writer(events::log::partitioned_log& log, runtime::scheduler& scheduler,
                             partition_counts partitions, worker_counters& counters)
    : x_scheduler(scheduler),
      x_partitions(std::move(partitions)),
      x_counters(counters),
      x_outcomes(std::make_shared<outcomes>()),
      x_producer(log.open_producer(events::log::producer_kind::ordinary)) {}

void record_writer::write(std::string_view topic, schemas::webhook_id webhook, std::string value,
                          std::function<bool()> wanted, std::function<void(const result<void>&)> ended) {
    auto what = make_pending(topic, webhook, std::move(value));
    what->wanted = std::move(wanted);
    what->ended = std::move(ended);
    ++x_unacknowledged;
    append(std::move(what));
}

void record_writer::write_attempt(const schemas::attempt& attempt) {
    if (x_attempts_waiting >= limits::attempt_records_waiting_max) {
        ++x_counters.attempt_records_lost;
        return;
    }
    ++x_attempts_waiting;
    append(make_pending(events::log::topic::attempts, attempt.webhook_id, schemas::encode(attempt)));
}

std::shared_ptr<record_writer::pending> record_writer::make_pending(std::string_view topic,
                                                                    schemas::webhook_id webhook,
                                                                    std::string value) const {
    const std::int32_t partitions = x_partitions.find(topic)->second;
    auto what = std::make_shared<pending>();
    what->key = events::subscriber_key(webhook);
    what->where = {std::string(topic),
                   events::partition_of(what->key, static_cast<std::uint32_t>(partitions))};
    what->value = std::move(value);
    return what;
}

void record_writer::append(std::shared_ptr<pending> what) {
    ++what->tries;
    const auto handler =
        [&scheduler = x_scheduler, waiting = x_outcomes, what,
         come = x_lifetime.guard([this] { take_outcomes(); })](const result<std::int64_t>& outcome) {
            if (waiting->add({what, outcome})) scheduler.post(come);
        };
    const result<void> taken = x_producer->append(what->where, what->key, what->value, handler);
    if (!taken) answered(std::move(what), taken.error());
}

void record_writer::take_outcomes() {
    for (const outcomes::outcome& each : x_outcomes->take()) answered(each.of, each.what);
}

void record_writer::answered(std::shared_ptr<pending> what, const result<std::int64_t>& outcome) {
    const bool too_large = !outcome && outcome.error().code == error_code::invalid_argument;
    if (!outcome && what->tries == 1 && is_refusal(outcome.error()))
        runtime::log(runtime::log_level::error, runtime::log_events::worker_append_refused,
                     {{"topic", what->where.topic}, {"reason", outcome.error().message}});
    if (outcome || too_large) {
        if (!what->ended) {
            --x_attempts_waiting;
            x_counters.attempt_records_lost += too_large ? 1 : 0;
            return;
        }
        --x_unacknowledged;
        if (too_large) return what->ended(outcome.error());
        return what->ended({});
    }
    const std::int64_t again_ms = x_scheduler.time().steady_ms() + what->pause_ms;
    what->pause_ms = std::min(2 * what->pause_ms, limits::write_pause_ms_max);
    x_scheduler.run_at(again_ms, x_lifetime.guard([this, what = std::move(what)] { repeat(what); }));
}

void record_writer::repeat(std::shared_ptr<pending> what) {
    if (!what->wanted && what->tries >= limits::attempt_record_tries_max) {
        --x_attempts_waiting;
        ++x_counters.attempt_records_lost;
        return;
    }
    if (what->wanted && !what->wanted()) {
        --x_unacknowledged;
        return;
    }
    ++x_counters.appends_repeated;
    append(std::move(what));
}

}  // namespace herald::workers
