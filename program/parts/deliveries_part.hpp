// What an API node knows of deliveries, and sends itself: their history, tests of webhooks, READ events.
#pragma once

#include <memory>
#include <optional>

#include "program/parts/node_parts.hpp"
#include "storage/deliveries/attempts_reader.hpp"
#include "storage/deliveries/delivery_history.hpp"
#include "storage/deliveries/delivery_sender.hpp"
#include "storage/deliveries/expected_deliveries.hpp"
#include "storage/deliveries/read_events.hpp"
#include "storage/deliveries/replay_job.hpp"
#include "storage/deliveries/trigger_calls.hpp"
#include "storage/deliveries/webhook_health_job.hpp"

namespace herald::program {

class registry_part;

/// Created, called and destroyed by the main thread; destroyed when the loops of its parts have stopped.
class deliveries_part {
  public:
    explicit deliveries_part(const api_node_parts& with) : x_with(with) {}

    /// Errors: those of the history's database.
    result<void> open_history(const std::filesystem::path& folder);
    /// Before the node starts. Errors: those of the log.
    result<void> begin(registry_part&);
    /// Feeds attempts to the history, to callers who wait for a test, and to the health of webhooks; and to
    /// the history what the outbox says. Errors: those of the log.
    result<void> read_attempts(registry_part&);
    void stop_reading();
    /// After the last request.
    void end();

    storage::deliveries::delivery_history& history() noexcept { return *x_history; }
    storage::deliveries::trigger_calls& triggers() noexcept { return *x_triggers; }
    storage::deliveries::delivery_sender& sender() noexcept { return *x_sender; }
    storage::deliveries::replay_job& replays() noexcept { return *x_replays; }
    storage::deliveries::read_events* reads() noexcept { return x_reads.get(); }

  private:
    const api_node_parts& x_with;
    std::unique_ptr<storage::deliveries::delivery_history> x_history;
    std::shared_ptr<storage::deliveries::webhook_health_job> x_health;
    std::unique_ptr<storage::deliveries::delivery_sender> x_sender;
    std::shared_ptr<storage::deliveries::replay_job> x_replays;
    std::shared_ptr<storage::deliveries::trigger_calls> x_triggers;
    std::shared_ptr<storage::deliveries::read_events> x_reads;
    std::optional<storage::deliveries::attempts_reader> x_attempts;      // on the loop of attempts
    std::optional<storage::deliveries::expected_deliveries> x_expected;  // likewise
};

}  // namespace herald::program
