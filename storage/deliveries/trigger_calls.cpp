#include "storage/deliveries/trigger_calls.hpp"

#include <map>
#include <utility>
#include <vector>

#include "events/event_topic.hpp"
#include "events/log/clock_of_log.hpp"
#include "events/subscriber_table.hpp"
#include "runtime/lifetime.hpp"
#include "runtime/mutex.hpp"
#include "schemas/binary.hpp"
#include "storage/deliveries/limits.hpp"

namespace herald::storage::deliveries {
namespace {

class log_trigger_calls final : public trigger_calls, public std::enable_shared_from_this<log_trigger_calls> {
  public:
    log_trigger_calls(events::log::partitioned_log& log, std::int32_t partitions,
                      runtime::scheduler& scheduler, runtime::random_source& random)
        : x_partitions(static_cast<std::uint32_t>(partitions)),
          x_time(log, scheduler.time()),
          x_scheduler(scheduler),
          x_random(random),
          x_producer(log.open_producer(events::log::producer_kind::ordinary)) {}

    void send(schemas::delivery what, attempt_handler handler) override {
        what.source = schemas::delivery_source::test;
        what.call_id = runtime::uuid_text(x_random.uuid());
        what.deadline_ms = x_time.wall_ms() + limits::test_deadline_ms;
        const std::string call_id = what.call_id;
        if (const auto refused = keep(call_id, handler)) return handler(*refused);
        give_up_at(call_id, x_time.steady_ms() + limits::test_deadline_ms);
        append(what);
    }

    void hear(const schemas::attempt& made) override {
        if (!made.call_id.empty()) finish(made.call_id, made);
    }

    void close() override {
        std::vector<std::string> under_way;
        {
            const runtime::lock_guard lock(x_mutex);
            x_is_closed = true;
            for (const auto& [call_id, handler] : x_under_way) under_way.push_back(call_id);
        }
        for (const std::string& each : under_way) finish(each, closed());
    }

  private:
    static error not_taken(const error& why) {
        return runtime::unavailable({"the log did not take the test: ", why.message});
    }
    static error closed() { return runtime::unavailable("this node is shutting down"); }

    /// Stores the handler, unless there is a reason not to.
    std::optional<error> keep(const std::string& call_id, attempt_handler& handler) {
        const runtime::lock_guard lock(x_mutex);
        if (x_is_closed) return closed();
        if (x_under_way.size() >= limits::tests_in_flight_max)
            return runtime::resource_exhausted("too many tests are under way; try again");
        x_under_way.emplace(call_id, std::move(handler));
        return std::nullopt;
    }

    void append(const schemas::delivery& what) {
        const std::string key = events::subscriber_key(what.webhook_id);
        const events::log::topic_partition where{std::string(events::log::topic::direct),
                                                 events::partition_of(key, x_partitions)};
        // The outcome may be unknown: either the attempt arrives or the deadline does.
        const auto appended = runtime::if_alive(
            weak_from_this(),
            [call_id = what.call_id](log_trigger_calls& self, const result<std::int64_t>& done) {
                if (!done && done.error().code != error_code::unavailable)
                    self.finish(call_id, not_taken(done.error()));
            });
        const auto accepted = x_producer->append(where, key, schemas::encode(what), appended);
        if (!accepted) finish(what.call_id, not_taken(accepted.error()));
    }

    void give_up_at(const std::string& call_id, std::int64_t at_ms) {
        const auto give_up = runtime::if_alive(weak_from_this(), [call_id](log_trigger_calls& self) {
            self.finish(call_id, error{error_code::deadline_exceeded,
                                       "no worker made the attempt within " +
                                           std::to_string(limits::test_deadline_ms / 1'000) +
                                           " s: none runs, deliveries are paused, or it waited behind others "
                                           "of this webhook"});
        });
        x_scheduler.post([give_up, at_ms, &scheduler = x_scheduler] { scheduler.run_at(at_ms, give_up); });
    }

    void finish(const std::string& call_id, result<schemas::attempt> outcome) {
        attempt_handler handler;
        {
            const runtime::lock_guard lock(x_mutex);
            const auto found = x_under_way.find(call_id);
            if (found == x_under_way.end()) return;
            handler = std::move(found->second);
            x_under_way.erase(found);
        }
        handler(std::move(outcome));
    }

    const std::uint32_t x_partitions;  // of deliveries.direct
    const events::log::clock_of_log x_time;
    runtime::scheduler& x_scheduler;
    runtime::random_source& x_random;
    runtime::mutex x_mutex;
    std::map<std::string, attempt_handler, std::less<>> x_under_way GUARDED_BY(x_mutex);
    bool x_is_closed GUARDED_BY(x_mutex) = false;
    const std::unique_ptr<events::log::producer> x_producer;  // destroyed first
};

}  // namespace

std::shared_ptr<trigger_calls> make_trigger_calls(events::log::partitioned_log& log, std::int32_t partitions,
                                                  runtime::scheduler& scheduler,
                                                  runtime::random_source& random) {
    return std::make_shared<log_trigger_calls>(log, partitions, scheduler, random);
}

}  // namespace herald::storage::deliveries
