// Handlers of webhooks.
#pragma once

#include "api/calls/handler.hpp"

namespace herald::api::webhooks {

calls::response create_webhook(calls::call&);
calls::answered find_webhooks(calls::call&);
calls::response delete_webhooks(calls::call&);
calls::response trigger_test(calls::call&);

}  // namespace herald::api::webhooks
