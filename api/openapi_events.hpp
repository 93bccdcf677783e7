// What the OpenAPI document says of deliveries: it follows from the kinds of events and the headers of
// deliveries (schemas/event_kinds.hpp, schemas/delivery_headers.hpp).
#pragma once

#include <string>

#include "schemas/json_schema.hpp"

namespace herald::api {

/// Member `webhooks` of the document: each kind of event, and the test, as subscribers are sent it.
std::string webhooks_of(schemas::schema_set&);
/// Member `callbacks` of the operation that makes a subscriber: whichever of them is sent there.
std::string deliveries_of(schemas::schema_set&);

}  // namespace herald::api
