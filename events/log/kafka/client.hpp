// What the parts of one Kafka log share: the options, how clients are opened and closed, and small owners for
// librdkafka's objects. Internal to events/log/kafka.
#pragma once

#include <librdkafka/rdkafka.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "events/log/bell.hpp"
#include "events/log/kafka/broker_watch.hpp"
#include "events/log/kafka/kafka_log.hpp"
#include "events/log/kafka/settings.hpp"
#include "runtime/lasting_trouble.hpp"
#include "runtime/log_events.hpp"
#include "runtime/mutex.hpp"

namespace herald::events::log::kafka {

template <auto destroy>
struct destroyed_by {
    template <class T>
    void operator()(T* object) const noexcept {
        destroy(object);
    }
};
/// Queues and topics must be destroyed before their client.
using queue_pointer = std::unique_ptr<rd_kafka_queue_t, destroyed_by<rd_kafka_queue_destroy>>;
using topic_pointer = std::unique_ptr<rd_kafka_topic_t, destroyed_by<rd_kafka_topic_destroy>>;
using event_pointer = std::unique_ptr<rd_kafka_event_t, destroyed_by<rd_kafka_event_destroy>>;
using message_pointer = std::unique_ptr<rd_kafka_message_t, destroyed_by<rd_kafka_message_destroy>>;
using partition_list =
    std::unique_ptr<rd_kafka_topic_partition_list_t, destroyed_by<rd_kafka_topic_partition_list_destroy>>;
using metadata_pointer = std::unique_ptr<const rd_kafka_metadata_t, destroyed_by<rd_kafka_metadata_destroy>>;

/// Runs the librdkafka calls that block their caller. Closing a client may even hang for ever after a broker
/// restart (kafka.md §2: #4724, #4674), so each such task has its own thread, and the caller stops waiting
/// after a while. Thread-safe.
class background {
  public:
    /// Runs `task` on its own thread and waits for it at most `wait_ms`; 0 does not wait.
    void run(std::function<void()> task, std::int64_t wait_ms);
    /// Waits at most `wait_ms` until all tasks are done. False when some are not.
    bool wait(std::int64_t wait_ms);

  private:
    struct state;
    std::shared_ptr<state> x_state = make_state();
    static std::shared_ptr<state> make_state();
};

/// Rings whenever something arrives in the empty queue, until ring_no_more(); the bell must outlive that
/// call.
void ring_for(rd_kafka_queue_t*, bell&);
void ring_no_more(rd_kafka_queue_t*);

/// The last thing librdkafka reported about a broker that is out of reach or refuses the client. Thread-safe.
class last_trouble {
  public:
    void say(std::string_view);
    /// Empty when nothing was reported in the last minute.
    std::string text() const;

  private:
    mutable runtime::mutex x_mutex;
    std::string x_text GUARDED_BY(x_mutex);
    std::int64_t x_at_ms GUARDED_BY(x_mutex) = 0;
};

struct installation;
class membership;
/// The opaque pointer of every client.
struct client_owner {
    installation* installed;
    membership* member = nullptr;
    std::atomic<std::uint32_t> connections = 0;  // connections begun, in total
};

/// One for each log, shared by everything that the log opened; it outlives their clients. Immutable, except
/// for members that are thread-safe themselves.
struct installation {
    kafka_options options;
    background tasks;
    last_trouble trouble;
    broker_watch brokers;
    runtime::lasting_trouble members{{.event = runtime::log_events::kafka_member_error,
                                      .over = runtime::log_events::kafka_member_works,
                                      .part = "group"}};
    client_owner owner{this};

    /// unavailable: "Kafka at <the addresses given> does not answer", and the cause.
    error no_answer(rd_kafka_resp_err_t) const;

    std::string name_of_topic(std::string_view topic) const {
        return options.topic_prefix + std::string(topic);
    }
    /// Without the prefix.
    std::string topic_of_name(const char* name) const;
    std::string name_of_group(std::string_view group) const {
        return options.topic_prefix + std::string(group);
    }
};

/// A client, closed in the background when its last owner releases it.
using client_pointer = std::shared_ptr<rd_kafka_t>;

struct client_wishes {
    properties more;                // in addition to those of the kind
    int events = 0;                 // RD_KAFKA_EVENT_…
    client_owner* owner = nullptr;  // otherwise the installation's; open_client makes one for each client
    void (*on_rebalance)(rd_kafka_t*, rd_kafka_resp_err_t, rd_kafka_topic_partition_list_t*, void*) = nullptr;
};

/// A client that its caller closes. Errors: invalid_argument (a property), internal (no threads, no memory).
result<rd_kafka_t*> open_raw_client(installation&, client_kind, const client_wishes&);
/// Errors: as open_raw_client.
result<client_pointer> open_client(const std::shared_ptr<installation>&, client_kind,
                                   const client_wishes& = {});

/// A list with one partition (prefixed) and an offset.
partition_list list_of(const installation&, const topic_partition&, std::int64_t offset);

record record_of(const rd_kafka_message_t&);

/// "registry.commands[0]", for messages.
std::string text_of(const topic_partition&);
/// Asks the leader of each partition for its first (RD_KAFKA_OFFSET_BEGINNING) or next offset
/// (RD_KAFKA_OFFSET_END); the list receives the answers. Blocks at most `wait_ms`.
rd_kafka_resp_err_t ask_leaders(rd_kafka_t*, rd_kafka_topic_partition_list_t&, std::int64_t which,
                                std::int64_t wait_ms);

/// As far as the client knows, the topic or the partition does not exist.
bool says_unknown(rd_kafka_resp_err_t) noexcept;

std::int64_t now_ms() noexcept;  // steady clock

}  // namespace herald::events::log::kafka
