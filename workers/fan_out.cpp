// Makes deliveries from events and records, and records from deliveries.
#include "workers/fan_out.hpp"

#include <utility>

#include "schemas/binary.hpp"

namespace herald::workers {

std::vector<delivery_of_event> fan_out(schemas::event event, event_memory& memory) {
    const std::vector<schemas::audience_member> audience = std::move(event.audience);
    event.audience.clear();
    const auto shared = memory.hold(std::move(event));
    std::vector<delivery_of_event> deliveries;
    deliveries.reserve(audience.size());
    for (const schemas::audience_member& member : audience) {
        delivery_of_event& one = deliveries.emplace_back();
        one.record.id = schemas::delivery_id(shared->id, member.webhook_id);
        one.record.webhook_id = member.webhook_id;
        one.record.revision_seen = member.revision;
        one.event = shared;
        one.held = member.held;
    }
    return deliveries;
}

delivery_of_event of_record(schemas::delivery record, event_memory& memory) {
    record.event.audience.clear();
    delivery_of_event made;
    made.event = memory.hold(std::exchange(record.event, {}));
    made.record = std::move(record);
    return made;
}

std::string encode(const delivery_of_event& delivery) {
    schemas::delivery whole = delivery.record;
    whole.event = *delivery.event;
    return schemas::encode(whole);
}

}  // namespace herald::workers
