#include "program/parts/append_command.hpp"

#include <future>

#include "events/log/topics.hpp"
#include "runtime/clock.hpp"
#include "runtime/random.hpp"
#include "schemas/commands/all.hpp"

namespace herald::program {
namespace {

constexpr std::int64_t applied_within_ms = 24ll * 3'600'000;

}  // namespace

result<void> append_command(events::log::partitioned_log& log, const schemas::commands::genesis& genesis,
                            schemas::commands::command_envelope command) {
    command.log_id = genesis.log_id;
    command.generation = genesis.generation;
    command.command_id = runtime::system_random().uuid();
    command.sender_clock_ms = runtime::system_clock().wall_ms();
    command.not_after_ms = command.sender_clock_ms + applied_within_ms;
    const auto producer = log.open_producer(events::log::producer_kind::ordinary);
    std::promise<result<std::int64_t>> answered;
    const auto accepted = producer->append(
        {std::string(events::log::topic::commands), 0}, "", schemas::commands::seal_envelope(command),
        [&](result<std::int64_t> offset) { answered.set_value(std::move(offset)); });
    if (!accepted) return accepted;
    const result<std::int64_t> offset = answered.get_future().get();
    if (!offset) return offset.error();
    return {};
}

result<void> append_webhooks_by(events::log::partitioned_log& log, const schemas::commands::genesis& genesis,
                                schemas::webhooks_by by) {
    return append_command(log, genesis,
                          schemas::commands::make_envelope(schemas::commands::set_webhooks_by{by}));
}

}  // namespace herald::program
