// What API nodes and workers are given, and what both do in the same way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "events/log/log.hpp"
#include "program/settings.hpp"
#include "runtime/certificate.hpp"
#include "runtime/descriptors.hpp"
#include "runtime/event_loop.hpp"
#include "runtime/http/server/server.hpp"
#include "runtime/key_ring.hpp"

namespace herald::program {

/// Must outlive the node, or the worker.
struct node_parts {
    events::log::partitioned_log& log;
    const runtime::key_ring& keys;
    runtime::descriptor_shares descriptors;
    runtime::event_loops& jobs;  // one loop; stopped by the node's end
};

/// An API node hears of attempts on a loop of its own, which waits for the disk.
struct api_node_parts : node_parts {
    runtime::event_loops& attempts;  // one loop; stopped by the node's end
};

/// The loop of a node's jobs, or of a worker. It outlives the log, which answers the last questions from its
/// destructor: their answers are posted to a loop that has stopped, and dropped with it.
inline constexpr runtime::event_loops_options one_loop{.loops = 1, .cores = {}, .blocking_threads = 0};

/// A line in the log with the version, the address, and what webhooks may be: public addresses and, if any,
/// the allowed ones; http or https only.
void log_that_it_runs(std::string_view event, const settings&, const std::string& where);

/// As the operator wants all addresses served, with so many connections, of which one client has a share.
runtime::http::server::server_options server_options_at(const settings&, const endpoint&,
                                                        std::size_t connections);

/// For the metric of how long the certificate still holds; nothing where there is none.
class certificate_expiry {
  public:
    explicit certificate_expiry(const std::string& file) : x_at_ms(runtime::certificate_expiry_ms(file)) {}
    void show() const;

  private:
    const std::optional<std::int64_t> x_at_ms;
};

}  // namespace herald::program
