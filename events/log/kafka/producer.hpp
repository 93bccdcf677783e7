// Appending to Kafka. Internal to events/log/kafka.
#pragma once

#include <memory>

#include "events/log/kafka/client.hpp"

namespace herald::events::log::kafka {

std::unique_ptr<producer> make_producer(std::shared_ptr<installation>, producer_kind);

}  // namespace herald::events::log::kafka
