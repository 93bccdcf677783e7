#include "events/log/kafka/broker_watch.hpp"

#include "events/log/kafka/limits.hpp"
#include "runtime/log_events.hpp"

namespace herald::events::log::kafka {
namespace {

constexpr unsigned failures_until_told = 2;

}  // namespace

broker_watch::broker::broker(const std::string& address, const runtime::lasting_trouble::writer& to)
    : trouble({.event = runtime::log_events::kafka_broker_unreachable,
               .over = runtime::log_events::kafka_broker_reachable,
               .fields = {{"broker", address}}},
              runtime::system_clock(), to) {}

void broker_watch::changed(const void* client, const std::string& address, std::string_view state) {
    const bool is_up = state == "UP";
    const bool is_attempt = state == "CONNECT";
    if (!is_up && !is_attempt && state != "DOWN") return;
    const runtime::lock_guard lock(x_mutex);
    auto found = x_brokers.find(address);
    if (found == x_brokers.end()) {
        if (x_brokers.size() == limits::kafka_brokers_watched_max) return;
        found = x_brokers.emplace(address, std::make_unique<broker>(address, x_to)).first;
    }
    broker& one = *found->second;
    if (is_attempt) {
        one.connecting.insert(client);
        return;
    }
    const bool has_tried = one.connecting.erase(client) > 0;
    if (is_up) {
        one.connected.insert(client);
        one.failures_in_a_row = 0;
        one.trouble.works();
    } else if (one.connected.erase(client) == 0 && has_tried && one.connected.empty() &&
               ++one.failures_in_a_row >= failures_until_told) {
        one.trouble.fails(one.complaint.empty() ? "no connection comes about" : one.complaint);
    }
}

void broker_watch::complained(std::string_view text) {
    const runtime::lock_guard lock(x_mutex);
    for (const auto& [address, one] : x_brokers)
        if (text.find(address + "/") != std::string_view::npos) one->complaint = text;
}

}  // namespace herald::events::log::kafka
