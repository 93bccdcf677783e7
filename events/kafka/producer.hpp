// Appending to Kafka. Internal to events/kafka.
#pragma once

#include <memory>

#include "events/kafka/client.hpp"

namespace herald::events::kafka {

std::unique_ptr<producer> make_producer(std::shared_ptr<installation>, producer_kind);

}  // namespace herald::events::kafka
