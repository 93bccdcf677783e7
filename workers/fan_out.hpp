// Makes an event's deliveries (design.md §3). Pure.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "schemas/webhooks.hpp"
#include "workers/event_memory.hpp"

namespace herald::workers {

/// A delivery in memory: all deliveries of an event share the event, so `record.event` is empty.
struct delivery_of_event {
    schemas::delivery record;
    std::shared_ptr<const schemas::event> event;
    /// The webhook was disabled at the event's place in the log: recorded, not sent.
    bool held = false;
    /// It comes from the topic of deliveries that wait for room.
    bool has_waited = false;
};

/// One for each member of the audience, in the same order.
std::vector<delivery_of_event> fan_out(schemas::event, event_memory&);
/// A delivery read from a topic.
delivery_of_event of_record(schemas::delivery, event_memory&);
/// A delivery in the form for a topic: with its event, but without the event's audience.
std::string encode(const delivery_of_event&);

}  // namespace herald::workers
