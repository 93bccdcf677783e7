#include "storage/deliveries/expected_deliveries.hpp"

#include <utility>
#include <vector>

#include "storage/deliveries/limits.hpp"

namespace herald::storage::deliveries {
namespace {

namespace tables = registry::tables;

events::log::topic_partition log_place(const tables::output_partition& where) {
    return {where.topic, static_cast<std::int32_t>(where.partition)};
}

/// What the webhook did not hear, being disabled, a worker reports as held.
void add_rows(const schemas::event& event, std::vector<schemas::delivery_row>& rows) {
    for (const schemas::audience_member& member : event.audience) {
        if (member.held) continue;
        schemas::delivery_row& row = rows.emplace_back();
        row.id = schemas::delivery_id(event.id, member.webhook_id);
        row.webhook_id = member.webhook_id;
        row.event_id = event.id;
        row.event_type = event.type;
        row.resource_type = event.resource_type;
        row.resource_id = event.resource_id;
        row.workspace_id = event.workspace_id;
        row.time_event_ms = event.time_ms;
    }
}

}  // namespace

expected_deliveries::expected_deliveries(const registry::state::state_store& store,
                                         runtime::scheduler& scheduler, delivery_history& history,
                                         std::function<bool()> may_begin)
    : x_store(store),
      x_scheduler(scheduler),
      x_history(history),
      x_may_begin(std::move(may_begin)),
      x_begun_ms(scheduler.time().steady_ms()) {
    x_scheduler.post(x_lifetime.guard([this] { look(); }));
}

void expected_deliveries::look() {
    std::size_t left = limits::outbox_looked_at_max;
    const std::int64_t now_ms = x_scheduler.time().steady_ms();
    if (x_may_begin() || now_ms - x_begun_ms > limits::attempts_end_wait_ms) {
        const auto view = x_store.view();
        std::map<tables::output_partition, std::uint64_t> last;
        tables::outbox::each_last(*view, [&](const tables::output_partition& where, std::uint64_t sequence) {
            last.emplace(where, sequence);
        });
        for (const auto& [where, sequence] : std::exchange(x_seen, last))
            if (left > 0) left -= take(*view, where, sequence, left);
    }
    const std::int64_t rest_ms = left == 0 ? 0 : limits::outbox_look_ms;
    x_scheduler.run_at(now_ms + rest_ms, x_lifetime.guard([this] { look(); }));
}

std::size_t expected_deliveries::take(const registry::state::state_view& state,
                                      const tables::output_partition& where, std::uint64_t until,
                                      std::size_t most) {
    const auto [at, is_new] = x_next.try_emplace(where);
    std::uint64_t& next = at->second;
    if (is_new) next = x_history.next_expected(log_place(where));
    if (next > until + 1) next = 1;  // another log's history
    if (next > until) return 0;
    std::size_t taken = 0;
    std::uint64_t reached = until;
    std::vector<schemas::delivery_row> rows;
    tables::outbox::each_of(state, where, next, [&](const schemas::event& event, std::string_view) {
        if (event.partition_sequence > until) return false;
        if (taken == most) {
            reached = event.partition_sequence - 1;
            return false;
        }
        ++taken;
        add_rows(event, rows);
        return true;
    });
    next = reached + 1;
    x_history.expect(log_place(where), rows, next);
    return taken;
}

}  // namespace herald::storage::deliveries
