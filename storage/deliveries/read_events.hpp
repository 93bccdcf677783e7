// READ events: the node that answered a read sends one to the webhooks that ask for it, by deliveries.direct
// (design.md §2). Best effort, outside the log of commands: events without room are dropped and counted.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "events/log/log.hpp"
#include "runtime/clock.hpp"
#include "runtime/random.hpp"
#include "schemas/webhooks.hpp"
#include "storage/node/node.hpp"

namespace herald::storage::deliveries {

/// What was read. The texts must outlive the call.
struct what_was_read {
    schemas::resource_type type = schemas::resource_type::none;
    std::string id;
    schemas::workspace_id workspace_id;
    std::string_view traceparent;
    /// Makes the entity's JSON; called only when an event is sent.
    const std::function<std::string()>& entity;
};

/// Any thread. Costs one look into memory if no webhook asks: the webhooks of a workspace that ask are
/// remembered for limits::read_listeners_kept_ms, so a new one hears a little later. One webhook gets at most
/// limits::read_events_per_second_max.
class read_events {
  public:
    virtual ~read_events() = default;
    virtual void tell(const node::registry_node::reading&, const what_was_read&) = 0;
};

/// `partitions`: the number for deliveries.direct. All arguments must outlive it.
std::shared_ptr<read_events> make_read_events(events::log::partitioned_log&, std::int32_t partitions,
                                              const runtime::clock&, runtime::random_source&);

}  // namespace herald::storage::deliveries
