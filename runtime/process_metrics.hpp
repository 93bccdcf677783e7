// What Linux knows about this process, under the names that all Prometheus client libraries use. Internal to
// the metrics.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

namespace herald::runtime {

/// process_cpu_seconds_total, process_resident_memory_bytes, process_open_fds,
/// process_max_fds, process_start_time_seconds; a value that cannot be read is 0.
std::vector<prometheus::MetricFamily> process_metrics();

}  // namespace herald::runtime
