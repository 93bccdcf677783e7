// Deliveries that wait for their first attempt: the history learns of them from the outbox (wire.md §7 "What
// makes it so").
#pragma once

#include <functional>
#include <map>

#include "runtime/lifetime.hpp"
#include "runtime/scheduler.hpp"
#include "storage/deliveries/delivery_history.hpp"
#include "storage/registry/tables/outbox.hpp"

namespace herald::storage::deliveries {

/// Looks at the outbox each limits::outbox_look_ms, at no more than limits::outbox_looked_at_max events, from
/// where the history is. Takes what it has seen at its look before, so that most deliveries have had their
/// attempt. Begins when `may_begin` says so. Lives on the scheduler's thread, which is that of keep(). All
/// arguments must outlive it.
class expected_deliveries {
  public:
    expected_deliveries(const registry::state::state_store&, runtime::scheduler&, delivery_history&,
                        std::function<bool()> may_begin);

  private:
    void look();
    /// Returns how many events it took.
    std::size_t take(const registry::state::state_view&, const registry::tables::output_partition&,
                     std::uint64_t until, std::size_t most);

    const registry::state::state_store& x_store;
    runtime::scheduler& x_scheduler;
    delivery_history& x_history;
    const std::function<bool()> x_may_begin;
    const std::int64_t x_begun_ms;
    std::map<registry::tables::output_partition, std::uint64_t>
        x_seen;  // the last sequence at the look before
    std::map<registry::tables::output_partition, std::uint64_t> x_next;
    runtime::lifetime x_lifetime;
};

}  // namespace herald::storage::deliveries
