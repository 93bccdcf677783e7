// The properties themselves, each with its reason.
#include "events/log/kafka/settings.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "events/log/kafka/limits.hpp"
#include "events/log/limits.hpp"

namespace herald::events::log::kafka {
namespace {

void add(properties& to, const properties& more) { to.insert(to.end(), more.begin(), more.end()); }

/// Properties of every client: mostly how fast it notices and replaces a broken connection.
properties connection() {
    return {
        {"client.id", "herald"},
        // A topic that a broker creates has the broker's default settings: it would cut the command log after
        // a week.
        {"allow.auto.create.topics", "false"},
        {"socket.timeout.ms", "5000"},
        {"socket.connection.setup.timeout.ms", "5000"},
        {"socket.keepalive.enable", "true"},
        {"socket.nagle.disable", "true"},
        {"reconnect.backoff.ms", "50"},
        {"reconnect.backoff.max.ms", "500"},
        {"topic.metadata.refresh.fast.interval.ms", "50"},
        // A new topic may be unknown to a broker for a moment; after this long it counts as missing.
        {"topic.metadata.propagation.max.ms", "2000"},
        // A broker that requires TLS or SASL simply disconnects, and gives no other sign.
        {"log.connection.close", "true"},
    };
}

properties of_producers(bool strict) {
    properties result{
        {"acks", "all"},
        {"enable.idempotence", "true"},
        {"linger.ms", "0"},
        {"compression.type", "none"},
        // Twice our own bound: librdkafka still counts records whose report is being processed.
        {"queue.buffering.max.messages", std::to_string(2 * limits::producer_records_unacknowledged_max)},
        {"queue.buffering.max.kbytes", std::to_string(2 * limits::producer_bytes_unacknowledged_max / 1024)},
        {"message.max.bytes", std::to_string(limits::record_bytes_max + limits::kafka_framing_bytes_max)},
    };
    if (strict) {
        // One batch at a time, and no expiry: no record can be missing in the middle (design.md §2).
        add(result,
            {{"max.in.flight", "1"}, {"message.timeout.ms", "0"}, {"enable.gapless.guarantee", "true"}});
    } else {
        add(result, {{"message.timeout.ms", "10000"}});
    }
    return result;
}

properties of_consumers() {
    return {
        {"enable.auto.commit", "false"},
        {"enable.auto.offset.store", "false"},
        {"auto.offset.reset", "error"},
        {"enable.partition.eof", "true"},
        {"isolation.level", "read_uncommitted"},
        {"check.crcs", "true"},
        {"fetch.wait.max.ms", "100"},
        {"fetch.error.backoff.ms", "50"},
        // With a low minimum, fetching stops for a second at a time; memory is bounded by the kilobytes.
        {"queued.min.messages", "100000"},
        {"queued.max.messages.kbytes", "8192"},
        {"fetch.message.max.bytes", "65536"},
    };
}

properties of_members(const kafka_options& options) {
    const bool is_static = !options.member_name.empty();
    const std::int64_t session_ms = is_static ? static_session_ms : options.session_timeout_ms;
    properties result{
        {"session.timeout.ms", std::to_string(session_ms)},
        {"heartbeat.interval.ms", std::to_string(std::clamp<std::int64_t>(session_ms / 6, 500, 2'000))},
        // A member whose event loop hangs for a minute loses its partitions to the others.
        {"max.poll.interval.ms", std::to_string(std::max<std::int64_t>(session_ms, 60'000))},
        {"topic.metadata.refresh.interval.ms", "10000"},
        // Never cooperative-sticky with librdkafka below 2.10.
        {"partition.assignment.strategy", "range,roundrobin"},
    };
    if (is_static) add(result, {{"group.instance.id", options.member_name}});
    return result;
}

constexpr std::array own_properties{
    std::string_view{"acks"},
    std::string_view{"allow.auto.create.topics"},
    std::string_view{"auto.offset.reset"},
    std::string_view{"bootstrap.servers"},
    std::string_view{"enable.auto.commit"},
    std::string_view{"enable.auto.offset.store"},
    std::string_view{"enable.gapless.guarantee"},
    std::string_view{"enable.idempotence"},
    std::string_view{"enable.partition.eof"},
    std::string_view{"group.id"},
    std::string_view{"group.instance.id"},
    std::string_view{"isolation.level"},
    std::string_view{"max.in.flight"},
    std::string_view{"max.in.flight.requests.per.connection"},
    std::string_view{"message.max.bytes"},
    std::string_view{"message.timeout.ms"},
    std::string_view{"delivery.timeout.ms"},
    std::string_view{"metadata.broker.list"},
    std::string_view{"partition.assignment.strategy"},
    std::string_view{"queue.buffering.max.kbytes"},
    std::string_view{"queue.buffering.max.messages"},
    std::string_view{"request.required.acks"},
    std::string_view{"session.timeout.ms"},
    std::string_view{"transactional.id"},
};

}  // namespace

properties settings_of(client_kind kind, const kafka_options& options) {
    properties result = connection();
    switch (kind) {
        case client_kind::producer:
            add(result, of_producers(false));
            break;
        case client_kind::strict_producer:
            add(result, of_producers(true));
            break;
        case client_kind::reader:
            add(result, of_consumers());
            break;
        case client_kind::member:
            add(result, of_consumers());
            add(result, of_members(options));
            break;
        case client_kind::admin:
            break;
    }
    add(result, {{"bootstrap.servers", options.bootstrap_servers}});
    add(result, options.properties);
    return result;
}

result<void> check_properties(const properties& from_operator) {
    for (const auto& [name, value] : from_operator)
        if (std::find(own_properties.begin(), own_properties.end(), name) != own_properties.end())
            return runtime::invalid_argument(
                {"Kafka property ", name, " cannot be set: promises of Herald rest on it"});
    return {};
}

}  // namespace herald::events::log::kafka
