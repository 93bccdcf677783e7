#include "tests/simulation/serving/serving_node.hpp"

#include <algorithm>

#include "storage/registry/tables/builds.hpp"

namespace herald::test::serving {
namespace {

constexpr std::int64_t told_too_little_ms = 20'000;
constexpr std::int64_t shown_late_ms = 5'000;

}  // namespace

serving_node::serving_node(world& in, std::string name, storage::node::node_kind kind,
                           events::log::memory::memory_broker& broker, const runtime::clock& brokers_time,
                           const broken_rules& broken, byte_sent sent)
    : x_world(in),
      x_name(std::move(name)),
      x_broken(broken),
      x_sent(std::move(sent)),
      x_grace_ms(in.chance.between(15'000, 40'000)),
      x_faults(in, {}),
      x_machine(in, {x_name, kind, broker, brokers_time, x_faults, x_nothing, [](const auto&) {},
                     [this](storage::node::registry_node::options& options) { change(options); }}) {}

void serving_node::change(storage::node::registry_node::options& options) {
    options.serves_predictions = true;
    options.isolation_grace_ms = x_grace_ms - (x_broken.serves_longer_than_told ? told_too_little_ms : 0);
    options.about_to_show = [this](const storage::node::shown_write& what) { shown(what); };
    if (x_broken.speaks_before_quiescence) return;
    options.quiesce = [this](std::function<void()> done) { quiesce(std::move(done)); };
}

void serving_node::start() {
    x_is_known = false;
    x_is_sending = false;
    x_builds.clear();
    x_serving = &x_world.time.start_thread();
    x_clock = std::make_unique<stopping_clock>(x_serving->time());
    x_gate = std::make_unique<api::serving::serving_gate>(*x_clock);
    x_machine.start();
    x_gate->begin(x_machine.node());
}

void serving_node::crash(std::size_t writes_lost) {
    x_serving->die();
    x_machine.crash(writes_lost);
}

void serving_node::stop(std::int64_t ms) {
    pause_log(ms);
    pause_serving(ms);
    if (x_broken.clock_stops_with_the_process) x_clock->stop_for(ms);
}

void serving_node::quiesce(std::function<void()> done) { x_serving->post(std::move(done)); }

void serving_node::shown(const storage::node::shown_write& what) {
    x_level = what.level;
    x_is_known = x_is_known || what.is_caught_up;
    if (!x_broken.shows_late) return take(*what.view);
    x_serving->run_at(x_world.time.now_ms() + shown_late_ms, [this, view = what.view] { take(*view); });
}

void serving_node::take(const storage::registry::state::state_view& view) {
    storage::registry::tables::builds::each(view, [&](const schemas::build& build) {
        auto& safety = x_builds[build.id];
        if (!safety) safety = x_gate->safety_of(build.id);
        if (build.unsafe_scan_id) safety->set_unsafe(build.unsafe_scan_id);
        return true;
    });
}

bool serving_node::passes(const prediction& asked) { return !asked.safety->unsafe_scan() && has_lease(); }

bool serving_node::has_lease() {
    const std::int64_t now_ms = x_clock->steady_ms();
    const std::int64_t until_ms = x_machine.node().serves_until_ms();
    if (std::exchange(x_last_serves_until_ms, until_ms) != until_ms) x_heard_ms = now_ms;
    if (x_broken.has_no_lease) return true;
    if (x_broken.serves_longer_than_told) return now_ms - told_too_little_ms < until_ms;
    if (x_broken.lease_begins_when_heard) return now_ms < x_heard_ms + x_grace_ms;
    return x_gate->has_lease();
}

void serving_node::predict(schemas::build_id build) {
    x_serving->post([this, build] {
        const auto known = x_builds.find(build);
        if (!x_is_known || known == x_builds.end()) return;
        const prediction asked{build, known->second};
        if (!passes(asked)) return;
        const std::int64_t took_ms = x_world.chance.one_in(4) ? x_world.chance.between(1'000, 30'000) : 1;
        x_serving->run_at(x_serving->time().steady_ms() + took_ms, [this, asked] { finish(asked); });
    });
}

/// The look and the byte are one step, which nothing else of this thread comes between; but the machine may
/// take its time over it, though not beyond the lease: against a process that is stopped for so long between
/// these two instructions nothing helps, nor against a network that keeps the byte.
void serving_node::finish(const prediction& asked) {
    if (!x_broken.has_no_second_look && !passes(asked)) return;
    // The end of a lease may be the least or the greatest number there is: nothing is added to it.
    const std::int64_t now_ms = x_clock->steady_ms();
    const std::int64_t end_ms = std::min(x_machine.node().serves_until_ms(), now_ms + 2'001);
    if (end_ms <= now_ms + 1 || !x_world.chance.one_in(3)) return x_sent(x_name, asked.build);
    pause_serving(x_world.chance.between(1, end_ms - 1 - now_ms));
    x_is_sending = true;
    x_serving->put_first([this, build = asked.build] {
        x_is_sending = false;
        x_sent(x_name, build);
    });
}

}  // namespace herald::test::serving
