// READ events: webhooks that ask for them get an event for what a GET showed (wire.md "Events").
#pragma once

#include "schemas/deployment.hpp"
#include "schemas/endpoints.hpp"
#include "schemas/registry.hpp"

namespace herald::api::calls {

class reading_call;

/// Best effort: costs next to nothing if no webhook asks, and never fails.
void tell_read(const reading_call&, const schemas::registered_model&);
void tell_read(const reading_call&, const schemas::model_version&);
void tell_read(const reading_call&, const schemas::build&);
void tell_read(const reading_call&, const schemas::endpoint&);

}  // namespace herald::api::calls
