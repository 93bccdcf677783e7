// A member of a Kafka consumer group. Internal to events/log/kafka.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "events/log/kafka/client.hpp"
#include "events/log/kafka/range_questions.hpp"

namespace herald::events::log::kafka {

std::unique_ptr<group_member> make_group_member(std::shared_ptr<installation>,
                                                std::shared_ptr<range_questions>, const std::string& group,
                                                const std::vector<std::string>& topics);

}  // namespace herald::events::log::kafka
