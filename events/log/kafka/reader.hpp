// Reads one partition of Kafka outside any group. Internal to events/log/kafka.
#pragma once

#include <memory>

#include "events/log/kafka/client.hpp"
#include "events/log/kafka/range_questions.hpp"
#include "events/log/kafka/reader_clients.hpp"

namespace herald::events::log::kafka {

std::unique_ptr<reader> make_reader(std::shared_ptr<installation>, std::shared_ptr<reader_clients>,
                                    std::shared_ptr<range_questions>, const topic_partition&,
                                    std::int64_t from_offset);

}  // namespace herald::events::log::kafka
