#include "api/serving/serving.hpp"

#include <future>
#include <utility>

#include "api/serving/limits.hpp"
#include "runtime/readiness.hpp"

namespace herald::api::serving {

serving::serving(const parts& with, route_maker::options options, std::uint64_t logged_each)
    : x_with(with),
      x_options(std::move(options)),
      x_book(with.serving_loops.size()),
      x_gate(with.loop.time()),
      x_log(logged_each) {}

void serving::begin(storage::node::registry_node& registry, models with) {
    x_gate.begin(registry);
    x_models = std::make_shared<components>(
        components::parts{registry, x_with.loop, x_with.loads, x_with.random, std::move(with.engines),
                          std::move(with.fetch), std::move(with.missing_engines)});
    x_canaries = std::make_shared<canary_reports>(
        canary_reports::parts{registry, x_with.loop, x_with.random, x_with.log_clock});
    x_maker =
        std::make_unique<route_maker>(x_options, route_maker::parts{x_book, x_gate, *x_models, *x_canaries});
    x_with.loop.post([this, alive = std::weak_ptr<char>(x_alive)] {
        if (alive.lock()) look_whether_ready();
    });
}

void serving::shown(const storage::node::shown_write& what) { x_maker->shown(what); }

/// Only at start: later no model is served that was not loaded on all nodes before.
void serving::look_whether_ready() {
    if (x_book.is_known()) {
        std::vector<std::shared_ptr<component>> active;
        x_book.newest()->each([&](const route_table::entry& endpoint) {
            for (const stage_route& stage : endpoint->stages)
                for (const component_route& each : stage.components)
                    if (!each.unsafe_scan) active.push_back(each.served);
        });
        if (x_first_loads.are_over(active, x_with.loop.time().steady_ms())) return x_book.set_ready();
    }
    x_with.loop.run_at(x_with.loop.time().steady_ms() + limits::serving_look_ms,
                       [this, alive = std::weak_ptr<char>(x_alive)] {
                           if (alive.lock()) look_whether_ready();
                       });
}

std::optional<runtime::trouble> serving::trouble() const {
    if (x_book.is_ready()) return std::nullopt;
    return runtime::trouble{
        runtime::not_ready_reason::models_loading,
        x_book.is_known()
            ? "this node is loading the models of its endpoints, and has not tried all of them yet"
            : "this node is still reading the log"};
}

std::string serving::why_not_loaded(const component_key& key) const {
    return x_models ? x_models->why_not_loaded(key) : std::string();
}

std::optional<std::set<schemas::build_id>> serving::served_builds() const {
    if (!x_book.is_known()) return std::nullopt;
    return x_models->held_builds();
}

void serving::quiesce(std::function<void()> done) {
    const auto left = std::make_shared<std::atomic<std::size_t>>(x_with.serving_loops.size());
    for (std::size_t index = 0; index < x_with.serving_loops.size(); ++index)
        x_with.serving_loops[index].post([this, index, left, done] {
            // A loop that nobody asks would keep what its routes were: models, and metrics of endpoints that
            // are gone.
            if (!x_is_ending) x_book.on_loop(index);
            if (--*left == 0) done();
        });
}

void serving::drain(storage::node::registry_node& node, std::function<void()> done) {
    x_gate.close([this](std::function<void()> quiesced) { quiesce(std::move(quiesced)); }, node,
                 std::move(done));
}

void serving::end() {
    x_is_ending = true;
    std::promise<void> passed;
    quiesce([&] { passed.set_value(); });
    passed.get_future().wait();  // no loop looks at its routes any more
    std::promise<void> stopped;
    x_with.loop.post([&] {
        x_alive.reset();
        if (x_canaries) x_canaries->end();
        stopped.set_value();
    });
    stopped.get_future().wait();
    x_book.clear();
    if (x_models) x_models->end();
}

}  // namespace herald::api::serving
