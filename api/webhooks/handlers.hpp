// Handlers of webhooks.
#pragma once

#include "api/calls/handler.hpp"

namespace herald::api::webhooks {

calls::response create_webhook(calls::writing_call&);
calls::answered find_webhooks(calls::reading_call&);
calls::response delete_webhooks(calls::writing_call&);
calls::response trigger_test(calls::writing_call&);

}  // namespace herald::api::webhooks
