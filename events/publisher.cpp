#include "events/publisher.hpp"

#include <atomic>
#include <map>
#include <optional>
#include <utility>

#include "events/log/partition_scan.hpp"
#include "events/log/topics.hpp"
#include "events/publisher_machine.hpp"
#include "runtime/assert.hpp"
#include "runtime/lasting_trouble.hpp"
#include "runtime/lifetime.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/metrics.hpp"
#include "schemas/binary.hpp"

namespace herald::events {
namespace {

using log::partition_scan;
using log::partitioned_log;
using log::record;

constexpr std::int64_t tick_ms = 1'000;
/// How many of a partition's last records are read at first, and the factor by which that grows as long as
/// none of them has a sequence.
constexpr std::int64_t tail_offsets = 1;
constexpr std::int64_t tail_growth = 16;

std::optional<partition_tail> newest_tail(const std::vector<record>& records) {
    for (auto what = records.rbegin(); what != records.rend(); ++what) {
        const auto event = schemas::decode<schemas::event>(what->value.value_or(""));
        if (event && event->partition_sequence > 0)
            return partition_tail{event->generation, event->partition_sequence};
    }
    return std::nullopt;
}

class log_publisher final : public publisher, public std::enable_shared_from_this<log_publisher> {
  public:
    log_publisher(partitioned_log& to, const outbox& from, runtime::scheduler& scheduler)
        : x_log(to), x_scheduler(scheduler), x_machine(from) {}

    void start(std::uint64_t token) override {
        HERALD_ASSERT(token > 0);
        if (token == x_token) return;
        stop();
        x_token = token;
        runtime::log(runtime::log_level::info, runtime::log_events::publisher_started,
                     {{"token", static_cast<std::int64_t>(token)}});
        perform(x_machine.start(now_ms()));
        tick(token);
    }

    void stop() override {
        if (x_token == 0) return;
        x_restarts.forget();
        runtime::log(runtime::log_level::info, runtime::log_events::publisher_stopped,
                     {{"token", static_cast<std::int64_t>(x_token)}});
        x_token = 0;
        perform(x_machine.stop());
    }

    void wake() override {
        if (x_is_wake_posted.exchange(true)) return;
        x_scheduler.post(runtime::if_alive(weak_from_this(), [](log_publisher& self) {
            self.x_is_wake_posted = false;
            self.perform(self.x_machine.woken(self.now_ms()));
        }));
    }

    std::uint64_t token() const override { return x_token; }
    std::vector<schemas::published_position> published() const override { return x_machine.published(); }

  private:
    std::int64_t now_ms() const { return x_scheduler.time().steady_ms(); }

    void tick(std::uint64_t token) {
        if (token != x_token) return;
        perform(x_machine.time_passed(now_ms()));
        x_scheduler.run_at(
            now_ms() + tick_ms,
            runtime::if_alive(weak_from_this(), [token](log_publisher& self) { self.tick(token); }));
    }

    void perform(publisher_actions actions) {
        for (publisher_action& next : actions)
            std::visit([this](auto& chosen) { perform_one(chosen); }, next);
    }

    void perform_one(const action::open_producer&) {
        x_producer = x_log.open_producer(log::producer_kind::strict);
    }

    void perform_one(const action::close_producer&) {
        x_tail_scans.clear();
        x_subscribers_scan.reset();
        x_producer.reset();
    }

    void perform_one(const action::read_tail& wanted) { scan_tail(wanted, tail_offsets); }

    void scan_tail(const action::read_tail& wanted, std::int64_t offsets) {
        const auto tail = std::make_shared<std::optional<partition_tail>>();
        partition_scan::handlers handlers;
        handlers.found = [this, tail, epoch = wanted.epoch,
                          stream = wanted.stream](const std::vector<record>& records) {
            if (const auto newer = newest_tail(records)) *tail = newer;
            x_machine.progressed(epoch, stream, now_ms());
        };
        handlers.done = [this, tail, wanted, offsets](result<bool> from_first) {
            x_tail_scans.erase(wanted.stream);
            if (!from_first) return read_failed(wanted, from_first.error());
            if (!*tail && !*from_first) return scan_tail(wanted, offsets * tail_growth);
            perform(x_machine.tail_read(wanted.epoch, wanted.stream, *tail, now_ms()));
        };
        x_tail_scans.erase(wanted.stream);
        x_tail_scans.try_emplace(wanted.stream, x_log, x_scheduler, wanted.where, offsets,
                                 std::move(handlers));
    }

    void perform_one(const action::read_subscribers& wanted) {
        const auto content = std::make_shared<topic_content>();
        partition_scan::handlers handlers;
        handlers.found = [this, content, wanted](const std::vector<record>& records) {
            for (const record& what : records) {
                content->erase(what.key);
                if (what.value) content->emplace(what.key, *what.value);
            }
            x_machine.progressed(wanted.epoch, wanted.stream, now_ms());
        };
        handlers.done = [this, content, wanted](result<bool> from_first) {
            x_subscribers_scan.reset();
            if (!from_first) return read_failed(wanted, from_first.error());
            perform(x_machine.subscribers_read(wanted.epoch, *content, now_ms()));
        };
        x_subscribers_scan.emplace(x_log, x_scheduler,
                                   log::topic_partition{std::string(log::topic::subscribers), 0},
                                   log::whole_partition, std::move(handlers));
    }

    template <class Read>
    void read_failed(const Read& wanted, const error& reason) {
        perform(x_machine.read_failed(wanted.epoch, wanted.stream, reason, now_ms()));
    }

    void perform_one(const action::end_read& of) {
        if (x_tail_scans.erase(of.stream) == 0) x_subscribers_scan.reset();
    }

    void perform_one(action::append& wanted) {
        if (!x_producer) return;  // an append made before it was refused
        const auto answered = runtime::if_alive(
            weak_from_this(),
            [ticket = wanted.ticket](log_publisher& self, const result<std::int64_t>& done) {
                self.appended(ticket, done);
            });
        const result<void> accepted =
            x_producer->append(wanted.where, std::move(wanted.key), std::move(wanted.value),
                               runtime::posted(x_scheduler, answered));
        if (!accepted) failed(wanted.ticket, accepted.error());
    }

    void perform_one(const action::wake_at& wanted) {
        x_scheduler.run_at(wanted.at_ms, runtime::if_alive(weak_from_this(), [](log_publisher& self) {
                               self.perform(self.x_machine.time_passed(self.now_ms()));
                           }));
    }

    void appended(const append_ticket& ticket, const result<std::int64_t>& done) {
        if (!done) return failed(ticket, done.error());
        x_restarts.works();
        perform(x_machine.acknowledged(ticket, now_ms()));
    }

    void failed(const append_ticket& ticket, const error& reason) {
        const std::uint64_t refused_before = x_machine.rows_refused();
        publisher_actions actions = x_machine.append_failed(ticket, reason, now_ms());
        x_events_refused.add(x_machine.rows_refused() - refused_before);
        if (actions.empty()) return;
        x_restarts.fails(reason.message);
        perform(std::move(actions));
    }

    partitioned_log& x_log;
    runtime::scheduler& x_scheduler;
    publisher_machine x_machine;
    std::uint64_t x_token = 0;
    std::unique_ptr<log::producer> x_producer;
    std::map<std::size_t, partition_scan> x_tail_scans;  // by stream
    std::optional<partition_scan> x_subscribers_scan;
    std::atomic<bool> x_is_wake_posted = false;
    runtime::lasting_trouble x_restarts{
        {.event = runtime::log_events::publisher_restarts, .over = runtime::log_events::publisher_goes_on}};
    runtime::counter& x_events_refused = runtime::metric_counter(runtime::metrics::events_refused);
};

}  // namespace

std::shared_ptr<publisher> make_publisher(partitioned_log& to, const outbox& from,
                                          runtime::scheduler& scheduler) {
    return std::make_shared<log_publisher>(to, from, scheduler);
}

}  // namespace herald::events
