#include "program/parts/wait_for_log.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "program/options/limits.hpp"
#include "program/parts/open_log.hpp"
#include "runtime/lasting_trouble.hpp"
#include "runtime/log_events.hpp"
#include "storage/node/genesis.hpp"

namespace herald::program {
namespace {

constexpr std::chrono::milliseconds rest{500};

runtime::lasting_trouble waiting_for(std::string what) {
    return runtime::lasting_trouble({.event = runtime::log_events::start_waits,
                                     .over = runtime::log_events::start_goes_on,
                                     .fields = {{"waits_for", std::move(what)}}});
}

/// Asks again and again, and waits longer each time, since a broker may be there and slow to answer.
class installation_search {
  public:
    installation_search(const settings& chosen, events::log::kafka::kafka_log& log,
                        const runtime::key_ring& keys)
        : x_chosen(chosen), x_log(log), x_keys(keys) {}

    /// Errors: unavailable when the brokers do not answer; not_found when they hold no installation, or half
    /// of one; others are final.
    result<schemas::commands::genesis> look() {
        const std::int64_t wait_ms = x_wait_ms;
        x_wait_ms = std::min(2 * x_wait_ms, limits::start_look_ms_max);
        if (!x_has_topics) {
            if (const auto checked = x_log.check_topics(wait_ms); !checked) return named(checked.error());
            x_has_topics = true;
        }
        auto beginning = storage::node::read_genesis(x_log, x_keys, wait_ms);
        if (!beginning) return named(beginning.error());
        return beginning;
    }

  private:
    error named(const error& why) const {
        if (why.code != error_code::not_found) return why;
        return runtime::not_found({"this Kafka holds no whole Herald installation under the prefix \"",
                                   x_chosen.kafka.topic_prefix, "\" (", why.message,
                                   "); run `herald init` first"});
    }

    const settings& x_chosen;
    events::log::kafka::kafka_log& x_log;
    const runtime::key_ring& x_keys;
    std::int64_t x_wait_ms = limits::start_look_ms_min;
    bool x_has_topics = false;
};

}  // namespace

result<begun_log> wait_for_begun_log(const settings& chosen, start_report& report) {
    auto keys = runtime::key_ring::load(key_ring_file(chosen));
    if (!keys) return keys.error();
    auto log = open_kafka_log(chosen);
    if (!log) return log.error();
    report.say("it contacts the brokers at " + chosen.kafka.bootstrap_servers);
    auto brokers = waiting_for("brokers");
    auto installation = waiting_for("installation");
    installation_search search(chosen, **log, *keys);
    for (;;) {
        auto found = search.look();
        if (!found && found.error().code == error_code::unavailable) {
            brokers.fails(found.error().message);
        } else {
            brokers.works();
            if (found) {
                installation.works();
                return begun_log{*std::move(keys), *std::move(log), *std::move(found)};
            }
            if (found.error().code != error_code::not_found) return found.error();
            installation.fails(found.error().message);
        }
        report.say("it waits: " + found.error().message);
        std::this_thread::sleep_for(rest);
    }
}

}  // namespace herald::program
