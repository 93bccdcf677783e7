#include "program/parts/deliveries_part.hpp"

#include <utility>
#include <vector>

#include "events/log/topics.hpp"
#include "program/parts/registry_part.hpp"
#include "program/parts/run_and_wait.hpp"
#include "runtime/random.hpp"

namespace herald::program {

namespace deliveries = storage::deliveries;

result<void> deliveries_part::open_history(const std::filesystem::path& folder) {
    auto opened = deliveries::open_delivery_history(folder, x_with.descriptors.database_files);
    if (!opened) return opened.error();
    x_history = *std::move(opened);
    return {};
}

result<void> deliveries_part::begin(registry_part& registry) {
    x_health = std::make_shared<deliveries::webhook_health_job>(
        registry.node(), registry.state(), x_with.jobs[0], runtime::system_random(),
        [this](std::string_view event) { return x_history->lost_deliveries_of_event(event); });
    registry.node().add_job(schemas::job::webhook_health, x_health);
    const auto partitions = x_with.log.partitions(std::string(events::log::topic::direct));
    if (!partitions) return partitions.error();
    const auto replays = x_with.log.partitions(std::string(events::log::topic::replay));
    if (!replays) return replays.error();
    x_sender = deliveries::make_delivery_sender(x_with.log, *partitions, *replays);
    x_replays =
        std::make_shared<deliveries::replay_job>(registry.node(), registry.state(), x_with.attempts[0],
                                                 runtime::system_random(), *x_history, *x_sender);
    registry.node().add_job(schemas::job::replay, x_replays);
    x_triggers =
        deliveries::make_trigger_calls(x_with.log, *partitions, x_with.jobs[0], runtime::system_random());
    x_reads = deliveries::make_read_events(x_with.log, *partitions, runtime::system_clock(),
                                           runtime::system_random());
    return {};
}

result<void> deliveries_part::read_attempts(registry_part& registry) {
    const auto partitions = x_with.log.partitions(std::string(events::log::topic::attempts));
    if (!partitions) return partitions.error();
    run_and_wait(x_with.attempts[0], [this, &registry, count = *partitions] {
        x_attempts.emplace(
            x_with.log, count, x_with.attempts[0], *x_history,
            std::vector<deliveries::attempts_reader::listener>{
                [&calls = *x_triggers](const schemas::attempt& made) { calls.hear(made); },
                [&health = *x_health](const schemas::attempt& made) { health.observe(made); }});
        x_expected.emplace(registry.state(), x_with.attempts[0], *x_history,
                           [&attempts = *x_attempts] { return attempts.has_reached_ends(); });
    });
    return {};
}

void deliveries_part::stop_reading() {
    run_and_wait(x_with.attempts[0], [this] {
        if (x_replays) x_replays->stop();  // nothing began when the start is refused
        x_expected.reset();
        x_attempts.reset();
    });
}

void deliveries_part::end() {
    x_replays.reset();
    x_sender.reset();
    x_triggers.reset();
    x_reads.reset();
    x_health.reset();
}

}  // namespace herald::program
