// Handlers of webhooks.
#pragma once

#include "api/calls/handler.hpp"

namespace herald::api::handlers {

response create_webhook(call&);
answered find_webhooks(call&);
response delete_webhooks(call&);
response trigger_test(call&);

}  // namespace herald::api::handlers
