// Builds records of attempts from deliveries and answers.
#include "workers/attempt_record.hpp"

#include "workers/delivery_headers.hpp"

namespace herald::workers {

namespace {

schemas::attempt about(const delivery_of_event& delivery) {
    const schemas::event& event = *delivery.event;
    schemas::attempt made;
    made.delivery_id = delivery.record.id;
    made.webhook_id = delivery.record.webhook_id;
    made.webhook_revision = delivery.record.revision_seen;
    made.event_id = event.id;
    made.event_type = event.type;
    made.resource_type = event.resource_type;
    made.resource_id = event.resource_id;
    made.workspace_id = event.workspace_id;
    made.source = delivery.record.source;
    made.call_id = delivery.record.call_id;
    made.time_event_ms = event.time_ms;
    made.replay_id = delivery.record.replay_id;
    made.is_extra = delivery.record.is_extra;
    return made;
}

}  // namespace

schemas::attempt record_of(const delivery_of_event& delivery, const no_attempt& why) {
    schemas::attempt made = about(delivery);
    made.result = why.result;
    made.error = why.error;
    made.message = why.message;
    made.time_ms = why.time_ms;
    return made;
}

schemas::attempt record_of(const delivery_of_event& delivery, const made_attempt& attempt,
                           const delivery_answer& answer) {
    schemas::attempt made = about(delivery);
    made.webhook_revision = attempt.webhook_revision;
    made.number = delivery.record.attempts_before + delivery.record.attempts_made + 1;
    made.error = answer.error;
    made.message = answer.message;
    made.time_ms = attempt.time_ms;
    made.address = answer.address;
    made.status = answer.status.value_or(0);
    made.request_headers = attempt.request_headers;
    made.response_headers = headers_without_secrets(answer.headers);
    made.response_body = answer.body;
    made.dns_us = answer.times.dns_us;
    made.connect_us = answer.times.connect_us;
    made.tls_us = answer.times.tls_us;
    made.first_byte_us = answer.times.first_byte_us;
    made.total_us = answer.times.total_us;
    return made;
}

}  // namespace herald::workers
