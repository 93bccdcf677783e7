// The engine of builds with an upstream_url: an HTTP server answers for them (wire.md §6).
#pragma once

#include <memory>
#include <vector>

#include "api/serving/engines/engine.hpp"
#include "runtime/event_loop.hpp"
#include "runtime/http/client/client.hpp"

namespace herald::api::serving::engines {

/// Has one HTTP client for each of the loops, all made here: a request made on one of them stays there,
/// others take turns. `options.policy` says which addresses may be connected to; plain HTTP is always
/// allowed, since the address policy guards it.
///
/// load() calls back on the first loop: when the server is healthy, or after limits::upstream_load_ms_max
/// with why it is not; until then each failed look is told (model_source::tell_trouble). A loaded model's
/// server is looked at every limits::upstream_health_interval_ms, for the metrics alone. Destroyed after the
/// loops have stopped, as are the models; requests under way are then dropped. Throws std::runtime_error as
/// make_client does.
std::unique_ptr<engine> make_upstream_engine(const std::vector<runtime::event_loop*>& loops,
                                             const runtime::http::client::client_options& options);

}  // namespace herald::api::serving::engines
