// Where the groups of events/log/topics.hpp resume; used while none of their members runs. Internal to
// events/log/kafka.
#pragma once

#include <memory>
#include <vector>

#include "events/log/kafka/client.hpp"

namespace herald::events::log::kafka {

/// Groups that never committed a partition, or whose offset was forgotten, begin at the log's first record.
/// Safe to repeat. Errors: as reset_lost_places.
result<void> commit_first_offsets(const std::shared_ptr<installation>&, rd_kafka_t* client,
                                  std::int64_t deadline_ms);
/// As kafka_log::find_lost_places and reset.
result<std::vector<lost_place>> find_lost_places(const std::shared_ptr<installation>&, rd_kafka_t* client);
result<void> reset_lost_places(const std::shared_ptr<installation>&, const std::vector<lost_place>&);
/// As partitioned_log::committed.
result<std::vector<std::int64_t>> find_committed(const std::shared_ptr<installation>&, rd_kafka_t* client,
                                                 const std::string& topic);
/// As kafka_log::check_offsets_retention.
void warn_of_short_retention(const installation&, rd_kafka_t* client);

}  // namespace herald::events::log::kafka
