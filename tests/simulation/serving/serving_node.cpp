#include "tests/simulation/serving/serving_node.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "api/predictions/routing.hpp"
#include "api/serving/canary_reports.hpp"
#include "api/serving/route_maker.hpp"
#include "schemas/commands/serving.hpp"

namespace herald::test::serving {
namespace {

namespace predictions = api::predictions;
using api::serving::component;
using api::serving::component_route;
using storage::node::registry_node;
using storage::node::shown_write;

constexpr std::int64_t told_too_little_ms = 10'000;
constexpr std::int64_t shown_late_ms = 5'000;
constexpr std::int64_t turn_ms = 2'000;

/// Stands for the loading of models: each is there at once, and the log hears of it a while later.
class models_at_hand final : public api::serving::component_holder {
  public:
    models_at_hand(world& in, registry_node& registry, process_thread& thread)
        : x_world(in), x_registry(registry), x_thread(thread) {}

    std::shared_ptr<component> hold(const api::serving::component_source& source) override {
        auto one = std::make_shared<component>(source.key, nullptr);
        one->set_model({}, nullptr);
        return one;
    }
    void tell_when_ready(schemas::update_id update, const std::shared_ptr<component>&) override {
        if (x_awaited.insert(update).second) tell_later(update);
    }
    void forget(schemas::update_id update) override { x_awaited.erase(update); }

  private:
    void tell_later(schemas::update_id update) {
        x_thread.run_at(x_thread.time().steady_ms() + x_world.chance.between(1, 3'000), [this, update] {
            if (!x_awaited.contains(update)) return;
            const auto me = x_registry.me();
            const schemas::commands::component_ready ready{update, me.name, me.boot, {}};
            x_registry.submit(schemas::commands::component_ready::type, schemas::encode(ready), {},
                              x_world.chance.source().uuid(), [](const auto&) {});
            tell_later(update);
        });
    }

    world& x_world;
    registry_node& x_registry;
    process_thread& x_thread;
    std::set<schemas::update_id> x_awaited;
};

class clock_of_the_gate final : public runtime::clock {
  public:
    explicit clock_of_the_gate(std::function<std::int64_t()> steady_ms) : x_steady_ms(std::move(steady_ms)) {}
    std::int64_t wall_ms() const noexcept override { return 0; }
    std::int64_t steady_ms() const noexcept override { return x_steady_ms(); }

  private:
    const std::function<std::int64_t()> x_steady_ms;
};

}  // namespace

/// What the product's composition makes for serving (api/serving/serving.cpp), from a start to an end.
class serving_node::process {
  public:
    explicit process(serving_node& of)
        : x_broken(of.x_broken),
          x_clock([&of] { return of.gate_time_ms(); }),
          x_gate(x_clock),
          x_book(1),
          x_models(of.x_world, of.x_machine.node(), of.x_machine.thread()),
          x_canaries(std::make_shared<api::serving::canary_reports>(api::serving::canary_reports::parts{
              of.x_machine.node(), of.x_machine.thread(), of.x_world.chance.source(), of.x_log_clock})),
          x_maker({{}, 1'000, 2'000, 3}, {x_book, x_gate, x_models, *x_canaries}) {
        x_gate.begin(of.x_machine.node());
    }

    api::serving::serving_gate& gate() { return x_gate; }
    api::serving::route_book& book() { return x_book; }

    void shown(const shown_write& what) {
        const bool is_caught_up = what.is_caught_up || x_broken.serves_before_the_end_of_the_log;
        const bool is_first = is_caught_up && !std::exchange(x_has_begun, is_caught_up);
        const auto view = changed_view(what.view, is_first ? x_broken.rows_at_start : nullptr);
        auto changes = what.changes;
        if (x_broken.tells_the_gate_of_routes_only) {
            std::erase_if(changes.builds, [this](schemas::build_id id) { return !has_route(id); });
            std::erase_if(changes.unsafe_reports,
                          [this](const auto& each) { return !has_route(each.build); });
        }
        x_maker.shown({view, changes, what.offset, what.level, is_caught_up});
    }

  private:
    bool has_route(schemas::build_id build) const {
        bool out = false;
        x_book.newest()->each([&](const auto& endpoint) {
            for (const auto& stage : endpoint->stages)
                for (const auto& each : stage.components) out = out || each.build == build;
        });
        return out;
    }

    const broken_rules& x_broken;
    const clock_of_the_gate x_clock;
    api::serving::serving_gate x_gate;
    api::serving::route_book x_book;
    models_at_hand x_models;
    std::shared_ptr<api::serving::canary_reports> x_canaries;
    api::serving::route_maker x_maker;
    bool x_has_begun = false;
};

serving_node::serving_node(world& in, std::string name, storage::node::node_kind kind,
                           events::log::memory::memory_broker& broker, const runtime::clock& brokers_time,
                           const broken_rules& broken, byte_sent sent, end_wanted end)
    : x_world(in),
      x_name(std::move(name)),
      x_kind(kind),
      x_log_clock(brokers_time),
      x_broken(broken),
      x_sent(std::move(sent)),
      x_end(std::move(end)),
      x_grace_ms(in.chance.between(15'000, 40'000)),
      x_faults(in, {.records_at_once = 5}),
      x_machine(
          in, {x_name, kind, broker, brokers_time, x_faults, x_nothing, [this](const auto&) { x_end(*this); },
               [this](registry_node::options& options) { change(options); }}) {}
serving_node::~serving_node() = default;

void serving_node::change(registry_node::options& options) {
    options.serves_predictions = !x_broken.tells_of_no_serving;
    options.isolation_grace_ms = x_grace_ms;
    options.about_to_show = [this](const shown_write& what) {
        if (!x_broken.shows_late) return x_process->shown(what);
        x_serving->run_at(x_world.time.now_ms() + shown_late_ms,
                          [this, what, view = what.view, changes = what.changes] {
                              x_process->shown({view, changes, what.offset, what.level, what.is_caught_up});
                          });
    };
    options.quiesce = [this](std::function<void()> done) { tell(std::move(done)); };
}

void serving_node::start() {
    x_is_sending = false;
    x_stopped_ms = 0;
    x_serving = &x_world.time.start_thread();
    x_machine.start();
    x_process = std::make_unique<process>(*this);
}

void serving_node::crash(std::size_t writes_lost) {
    x_serving->die();
    x_machine.crash(writes_lost);
    x_process.reset();
}

/// As the product's composition (program/parts/api_node.cpp).
void serving_node::drain() {
    registry_node& node = x_machine.node();
    const auto drained = [this] { x_end(*this); };
    const bool is_alone = x_kind == storage::node::node_kind::standalone;
    if (is_alone || x_broken.says_farewell_before_closing) return node.drain(drained);
    const auto threads = [this](std::function<void()> done) {
        return x_broken.says_farewell_before_quiescence ? done() : quiesce(std::move(done));
    };
    x_process->gate().close(threads, node, drained);
}

void serving_node::stop(std::int64_t ms) {
    pause_log(ms);
    pause_serving(ms);
    x_stopped_ms += ms;
}

void serving_node::quiesce(std::function<void()> done) { x_serving->post(std::move(done)); }

/// A heartbeat is about to go out.
void serving_node::tell(std::function<void()> done) {
    const std::int64_t now_ms = x_world.time.now_ms();
    x_newest_ms = now_ms;
    if (x_broken.tells_before_quiescence) return done();
    if (!x_broken.tells_at_its_next_turn) return quiesce(std::move(done));
    x_told_ms = std::max(now_ms, x_told_ms + turn_ms);
    x_serving->run_at(x_told_ms, std::move(done));
}

std::int64_t serving_node::gate_time_ms() {
    const std::int64_t now_ms = x_world.time.now_ms();
    const std::int64_t until_ms = x_machine.node().serves_until_ms();
    if (std::exchange(x_last_until_ms, until_ms) != until_ms) x_heard_ms = now_ms;
    constexpr std::int64_t ever_ms = std::numeric_limits<std::int64_t>::max();
    constexpr std::int64_t never_ms = std::numeric_limits<std::int64_t>::min();
    const bool is_counted = until_ms != ever_ms && until_ms != never_ms;
    const std::int64_t sent_ms = is_counted ? until_ms - x_grace_ms : 0;
    switch (x_broken.lease) {
        case gate_time::true_time:
            return now_ms;
        case gate_time::never_late:
            return never_ms;
        case gate_time::behind:
            return now_ms - told_too_little_ms;
        case gate_time::stops_with_the_process:
            return now_ms - x_stopped_ms;
        case gate_time::from_when_it_was_heard:
            return is_counted ? now_ms - (x_heard_ms - sent_ms) : now_ms;
        case gate_time::from_the_newest_that_is_sent:
            return is_counted ? now_ms - (x_newest_ms - sent_ms) : now_ms;
    }
    return now_ms;
}

void serving_node::predict(const std::string& path) {
    x_serving->post([this, path] {
        const runtime::http::server::header_view token{"access-token", access_token};
        const std::string id = runtime::uuid_text(x_world.chance.source().uuid());
        runtime::http::server::request received;
        received.headers = {&token, 1};
        received.request_id = id;
        const auto found = predictions::route(x_process->book(), x_process->gate(), received, {.name = path});
        const auto* const routed = std::get_if<predictions::routed>(&found);
        if (!routed) return;
        std::shared_ptr<const component_route> to(routed->endpoint, routed->component);
        if (x_broken.looks_at_its_snapshot) {
            const auto copy = std::make_shared<component_route>(*to);
            copy->safety = std::make_shared<api::serving::build_safety>();
            to = copy;
        }
        const std::int64_t took_ms =
            x_world.chance.one_in(4) ? x_world.chance.between(1'000, 30'000) : x_world.chance.between(0, 1);
        x_serving->run_at(x_serving->time().steady_ms() + took_ms, [this, to] { finish(to); });
    });
}

/// The look and the byte are one step, which nothing else of this thread comes between; but the machine may
/// take its time over it, though not beyond the lease: against a process that is stopped for so long between
/// these two instructions nothing helps, nor against a network that keeps the byte.
void serving_node::finish(const std::shared_ptr<const component_route>& to) {
    if (!x_broken.has_no_second_look && predictions::second_look(x_process->gate(), *to)) return;
    // The end of a lease may be the least or the greatest number there is: nothing is added to it.
    const std::int64_t now_ms = x_serving->time().steady_ms();
    const std::int64_t end_ms = std::min(x_machine.node().serves_until_ms(), now_ms + 5'001);
    if (end_ms <= now_ms + 1 || !x_world.chance.one_in(25)) return x_sent(x_name, to->build);
    pause_serving(x_world.chance.between(1, end_ms - 1 - now_ms));
    x_is_sending = true;
    x_serving->put_first([this, build = to->build] {
        x_is_sending = false;
        x_sent(x_name, build);
    });
}

}  // namespace herald::test::serving
