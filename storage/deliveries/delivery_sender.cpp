#include "storage/deliveries/delivery_sender.hpp"

#include <utility>

#include "events/event_topic.hpp"
#include "events/log/topics.hpp"
#include "events/subscriber_table.hpp"
#include "schemas/binary.hpp"

namespace herald::storage::deliveries {
namespace {

class log_delivery_sender final : public delivery_sender {
  public:
    log_delivery_sender(events::log::partitioned_log& log, std::int32_t direct, std::int32_t replay)
        : x_log(log), x_direct(direct), x_replay(replay) {}

    void resend(schemas::delivery what, done_handler done) override {
        what.source = schemas::delivery_source::resend;
        append(events::log::topic::direct, x_direct, what, std::move(done));
    }
    void replay(schemas::delivery what, done_handler done) override {
        what.source = schemas::delivery_source::replay;
        append(events::log::topic::replay, x_replay, what, std::move(done));
    }

  private:
    void append(std::string_view topic, std::int32_t partitions, const schemas::delivery& what,
                done_handler done) {
        const std::string key = events::subscriber_key(what.webhook_id);
        const events::log::topic_partition where{
            std::string(topic), events::partition_of(key, static_cast<std::uint32_t>(partitions))};
        const auto shared = std::make_shared<done_handler>(std::move(done));
        const auto appended = [shared](const result<std::int64_t>& outcome) {
            (*shared)(outcome ? result<void>() : result<void>(outcome.error()));
        };
        const auto accepted = producer().append(where, key, schemas::encode(what), appended);
        if (!accepted) (*shared)(accepted.error());
    }

    /// Opened when something is sent again: a producer has threads of its own.
    events::log::producer& producer() {
        const runtime::lock_guard lock(x_mutex);
        if (!x_producer) x_producer = x_log.open_producer(events::log::producer_kind::ordinary);
        return *x_producer;
    }

    events::log::partitioned_log& x_log;
    const std::int32_t x_direct;
    const std::int32_t x_replay;
    runtime::mutex x_mutex;
    std::unique_ptr<events::log::producer> x_producer GUARDED_BY(x_mutex);  // destroyed first
};

}  // namespace

schemas::delivery made_again(schemas::event event, const schemas::webhook& hook,
                             const schemas::delivery_row* known) {
    schemas::delivery made;
    made.id = schemas::delivery_id(event.id, hook.id);
    made.webhook_id = hook.id;
    made.revision_seen = hook.revision;
    made.event = std::move(event);
    made.event.audience.clear();
    made.call_id = made.id;
    if (known) {
        made.attempts_before = known->attempts;
        made.is_extra = known->state == schemas::delivery_state::waiting && known->attempts > 0;
    }
    return made;
}

std::unique_ptr<delivery_sender> make_delivery_sender(events::log::partitioned_log& log,
                                                      std::int32_t direct_partitions,
                                                      std::int32_t replay_partitions) {
    return std::make_unique<log_delivery_sender>(log, direct_partitions, replay_partitions);
}

}  // namespace herald::storage::deliveries
