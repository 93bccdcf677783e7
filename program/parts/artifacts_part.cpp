#include "program/parts/artifacts_part.hpp"

#include <utility>

#include "program/parts/open_artifacts.hpp"
#include "program/parts/registry_part.hpp"
#include "runtime/random.hpp"
#include "storage/artifacts/limits.hpp"

namespace herald::program {

using storage::artifacts::collector::collector_job;

artifacts_part::artifacts_part(const settings& chosen, const api_node_parts& with)
    : x_chosen(chosen),
      x_with(with),
      x_calls(limits::artifact_threads, limits::artifact_calls_waiting_max),
      x_reads(limits::artifact_threads, limits::artifact_calls_waiting_max) {
    x_transfers.is_store_checked = false;
}

result<void> artifacts_part::open(registry_part& registry) {
    auto opened = open_artifacts(x_chosen, {x_reads, x_calls});
    if (!opened) return opened.error();
    x_store = *std::move(opened);
    x_watch.emplace(
        storage::artifacts::collector::store_check::parts{*x_store, registry.state(), x_with.jobs[0]},
        x_chosen.artifacts_taking);
    return x_watch->check_first();
}

void artifacts_part::add_collector(registry_part& registry) {
    x_collector = std::make_shared<collector_job>(
        collector_job::parts{registry.node(), registry.state(), *x_store, x_with.jobs[0],
                             runtime::system_random(), x_reads},
        collector_job::times{});
    registry.node().add_job(schemas::job::artifact_collector, x_collector);
}

void artifacts_part::watch(registry_part& registry, std::function<void(const result<void>&)> judged) {
    const auto is_caught_up = [&registry] { return !registry.node().state_now().not_ready; };
    x_watch->begin(is_caught_up, std::move(judged));
}

void artifacts_part::end() {
    if (x_collector) x_collector->end();
    if (x_watch) x_watch->end();
    x_collector.reset();
}

}  // namespace herald::program
