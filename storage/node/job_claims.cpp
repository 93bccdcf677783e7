#include "storage/node/job_claims.hpp"

#include <utility>

#include "runtime/lifetime.hpp"
#include "storage/node/membership.hpp"
#include "storage/registry/tables/installation.hpp"
#include "storage/registry/tables/nodes.hpp"

namespace herald::storage::node {

namespace {

/// After `herald restore --paused`, until `herald resume`.
bool is_paused(const applied_state& state) {
    const auto progress = registry::tables::restoring::find(*state.view);
    return progress && progress->is_paused;
}

}  // namespace

void job_claims::look(const applied_state& state) {
    if (x_is_stopped) return;
    for (std::size_t index = 0; index < x_jobs.size(); ++index) look_at(x_jobs[index], index, state);
}

void job_claims::look_at(job& one, std::size_t index, const applied_state& state) {
    if (one.is_publisher && is_paused(state)) return let_go(one);
    const auto held = registry::tables::claims::find(*state.view, one.name);
    const bool is_able = one.work->is_able();
    if (held && held->node == x_node && held->boot == x_boot) {
        // It ends once the claim is gone; its earlier results still count.
        if (!is_able) return ask(one, index, wish::to_let_go);
        if (one.token == held->token) return;
        one.token = held->token;
        one.held.set(1);
        return one.work->start(one.token);
    }
    let_go(one);
    if (is_able && (!held || is_lapsed(state, *held))) ask(one, index, wish::to_hold);
}

void job_claims::ask(job& one, std::size_t index, wish what) {
    if (std::exchange(one.is_asking, true)) return;
    const auto answered = runtime::if_alive(
        weak_from_this(), [index](job_claims& self, const auto&) { self.x_jobs[index].is_asking = false; });
    x_gateway->submit_own(schemas::commands::claim{one.name, x_node, x_boot, what == wish::to_let_go},
                          runtime::posted(x_scheduler, answered));
}

void job_claims::stop() {
    if (std::exchange(x_is_stopped, true)) return;
    for (job& one : x_jobs) let_go(one);
}

void job_claims::let_go(job& one) {
    one.held.set(0);
    if (std::exchange(one.token, 0) != 0) one.work->stop();
}

}  // namespace herald::storage::node
