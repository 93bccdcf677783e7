// The addresses at which a process is spoken to. They answer from the first moment on: while it starts, only
// operators, and what it waits for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "program/options/settings.hpp"
#include "program/parts/node_parts.hpp"
#include "runtime/event_loop.hpp"
#include "runtime/http/server/server.hpp"
#include "runtime/metrics.hpp"
#include "runtime/mutex.hpp"
#include "runtime/readiness.hpp"

namespace herald::program {

/// What a start does or waits for, for /readyz. Thread-safe.
class start_report {
  public:
    /// `process`: "api" or "worker", as in the metric herald_not_ready, which it sets until the part that
    /// starts shows its own.
    explicit start_report(std::string_view process);
    void say(std::string what);
    runtime::trouble trouble() const;

  private:
    mutable runtime::mutex x_mutex;
    std::string x_what GUARDED_BY(x_mutex) = "this process has only begun to start";
};

/// One address. Created and destroyed by the main thread, which makes all calls.
class door {
  public:
    /// Answers from now on with `starting`. The report and the loops outlive it. Errors: those of
    /// make_server.
    static result<std::unique_ptr<door>> open(
        runtime::http::server::server_options, runtime::event_loops&,
        std::unique_ptr<runtime::http::server::request_handler> starting);

    /// As runtime::http::server::server; `next` outlives close().
    void lead_to(runtime::http::server::request_handler& next) { x_server->lead_to(next); }
    std::uint16_t port() const noexcept { return x_server->port(); }
    /// As runtime::http::server::server.
    bool drain(std::int64_t ms) { return x_server->drain(ms); }
    /// Returns when no handler runs any more.
    void close() { x_server.reset(); }

  private:
    door() = default;

    std::unique_ptr<runtime::http::server::request_handler> x_starting;
    std::unique_ptr<runtime::http::server::server> x_server;
};

/// What an API node answers at.
struct api_doors {
    /// `jobs` serve the address for metrics. Errors: those of make_server.
    static result<std::unique_ptr<api_doors>> open(const settings&, std::size_t clients,
                                                   runtime::event_loops& jobs, const start_report&);

    const runtime::metrics_source certificate;  // its metric
    runtime::event_loops loops{};               // HTTP: one per core
    std::unique_ptr<door> main;
    std::unique_ptr<door> metrics;  // null: on the main address
};

/// Where a worker serves operators; null if it was given no address.
struct worker_door {
    static result<std::unique_ptr<worker_door>> open(const settings&, const start_report&);

    const runtime::metrics_source certificate;  // its metric
    runtime::event_loops loops{one_loop};
    std::unique_ptr<door> operators;
};

}  // namespace herald::program
