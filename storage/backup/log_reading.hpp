// Reads a partition to its end, for an operator's command: what the log has must be seen whole, or it is an
// error.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "events/log/log.hpp"
#include "schemas/webhooks.hpp"

namespace herald::storage::backup {

/// First and next offset, as the leader says them. Blocks at most limits::backup_log_wait_ms_max. Errors:
/// those of query_range; unavailable when the log does not answer.
result<events::log::offset_range> range_of(events::log::partitioned_log&,
                                           const events::log::topic_partition&);

/// Visits the records of [from, below) of a partition that is not compacted. A reader that shows an end
/// before `below`, as a newly elected leader may for a moment, is asked again. Errors: the visitor's;
/// failed_precondition when `from` is no longer there; unavailable when the records do not come.
result<void> each_record(events::log::partitioned_log&, const events::log::topic_partition&,
                         std::int64_t from, std::int64_t below,
                         const std::function<result<void>(const events::log::record&)>& visit);

/// The event that the last record of the partition holds; empty when there is no record, or it holds none.
result<std::optional<schemas::event>> last_event(events::log::partitioned_log&,
                                                 const events::log::topic_partition&,
                                                 const events::log::offset_range&);

}  // namespace herald::storage::backup
