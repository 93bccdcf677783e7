#include "api/serving/components.hpp"

#include <algorithm>
#include <utility>

#include "api/serving/limits.hpp"
#include "runtime/lifetime.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/metrics.hpp"
#include "runtime/text.hpp"
#include "schemas/binary.hpp"
#include "schemas/commands/serving.hpp"
#include "schemas/limits.hpp"

namespace herald::api::serving {
namespace {

using runtime::log_level;

void log_failure(const component_source& source, const std::string& why) {
    runtime::log(log_level::warning, runtime::log_events::model_not_loaded,
                 {{"build", static_cast<std::int64_t>(source.key.build.value)},
                  {"runtime", source.runtime},
                  {"reason", why}});
}

}  // namespace

components::components(parts with) : x_with(std::move(with)), x_tasks(x_with.loop) {}

std::shared_ptr<component> components::hold(const component_source& source) {
    std::shared_ptr<component> made;
    {
        const runtime::lock_guard lock(x_mutex);
        std::weak_ptr<component>& place = x_held[source.key];
        if (auto held = place.lock()) return held;
        made = std::make_shared<component>(
            source.key,
            runtime::if_alive(weak_from_this(), [](components& self, engines::loaded_model model) {
                self.unload(std::move(model));
            }));
        place = made;
        std::erase_if(x_held, [](const auto& each) { return each.second.expired(); });
    }
    x_with.loop.post(runtime::if_alive(
        weak_from_this(), [what = load{made, source, limits::model_load_retry_ms_min, 0}](components& self) {
            self.x_waiting.push_back(what);
            self.begin_next();
        }));
    return made;
}

void components::tell_when_ready(schemas::update_id update, const std::shared_ptr<component>& about) {
    x_with.loop.post(runtime::if_alive(
        weak_from_this(), [update, about = std::weak_ptr<component>(about)](components& self) {
            std::erase_if(self.x_reports, [](const auto& each) { return each.second.about.expired(); });
            if (self.x_reports.try_emplace(update, awaited_report{about}).second) self.report(update);
        }));
}

void components::forget(schemas::update_id update) {
    x_with.loop.post(
        runtime::if_alive(weak_from_this(), [update](components& self) { self.x_reports.erase(update); }));
}

std::string components::why_not_loaded(const component_key& key) const {
    const runtime::lock_guard lock(x_mutex);
    const auto found = x_held.find(key);
    const auto held = found == x_held.end() ? nullptr : found->second.lock();
    return held && !held->model() ? held->why_not_loaded() : std::string();
}

std::set<schemas::build_id> components::held_builds() const {
    const runtime::lock_guard lock(x_mutex);
    std::set<schemas::build_id> out;
    for (const auto& [key, place] : x_held)
        if (!place.expired()) out.insert(key.build);
    return out;
}

void components::end() {
    x_with.loop.post(runtime::if_alive(weak_from_this(), [](components& self) {
        self.x_is_ending = true;
        self.x_waiting.clear();
        self.cancel_loads();
    }));
    x_tasks.stop();
}

void components::cancel_loads() {
    std::vector<std::shared_ptr<component>> held;  // the last one that lets go unloads, not under the mutex
    const runtime::lock_guard lock(x_mutex);
    for (const auto& [key, place] : x_held)
        if (auto each = place.lock()) held.push_back(std::move(each));
    for (const auto& each : held) each->loading()->cancel();
}

// ---- loading, on the loop

void components::begin_next() {
    while (!x_is_ending && x_loading < limits::model_loads_max && !x_waiting.empty()) {
        load next = std::move(x_waiting.front());
        x_waiting.pop_front();
        if (!next.into.expired()) fetch(std::move(next));
    }
}

void components::fetch(load next) {
    next.began_ms = now_ms();
    if (!engine_for(next.source)) {
        const std::string name(next.source.runtime);
        const auto known = x_with.missing_engines.find(name);
        const error why = runtime::invalid_argument(
            {"this node cannot run models of the runtime \"", name, "\"",
             (known == x_with.missing_engines.end() ? std::string() : ": " + known->second)});
        return failed(std::move(next), why);
    }
    ++x_loading;
    if (!next.source.has_file) return fetched(std::move(next), fetched_model());
    const component_source source = next.source;
    x_with.fetch(source, [self = weak_from_this(), &loop = x_with.loop,
                          next = std::move(next)](const result<fetched_model>& found) {
        loop.post(runtime::if_alive(self, [next, found](components& mine) { mine.fetched(next, found); }));
    });
}

void components::fetched(load next, result<fetched_model> found) {
    if (!found) {
        --x_loading;
        failed(std::move(next), found.error());
        return begin_next();
    }
    x_tasks.start("load_model", run(shared_from_this(), std::move(next), *std::move(found)));
}

/// The engine is asked on a thread that may block. Its answer may come later; then the next load begins
/// before.
boost::asio::awaitable<void> components::run(std::shared_ptr<components> self, load what,
                                             fetched_model bytes) {
    const auto work = [self, what, bytes]() -> result<void> {
        engines::model_source source;
        if (const auto into = what.into.lock()) source.cancelled = into->loading();
        if (!source.cancelled) return error{error_code::cancelled, "nobody wants it any more", 0};
        source.build = what.source.key.build;
        if (bytes.file) source.file = *bytes.file;
        source.upstream_url = what.source.upstream_url;
        source.health_path = what.source.health_path;
        source.batching = what.source.key.batching;
        const std::weak_ptr<components> back = self;
        source.tell_trouble = [back, &loop = self->x_with.loop, what](const std::string& why) {
            loop.post(
                runtime::if_alive(back, [what, why](components& mine) { mine.told_trouble(what, why); }));
        };
        const auto loaded = [back, &loop = self->x_with.loop, what,
                             bytes](result<engines::loaded_model> model) {
            // std::function is copied: the model goes along in a shared place.
            const auto outcome = std::make_shared<result<engines::loaded_model>>(std::move(model));
            loop.post(runtime::if_alive(back, [what, outcome, memory = bytes.memory](components& mine) {
                mine.loaded(what, std::move(*outcome), memory);
            }));
        };
        // What was thrown would end the task, and its place among the loads would never be free again.
        try {
            self->engine_for(what.source)->load(source, loaded);
        } catch (const std::exception& thrown) {
            return runtime::unavailable({"loading it has failed: ", thrown.what()});
        }
        return {};
    };
    const auto asked = co_await runtime::run_blocking(self->x_with.loads, work);
    --self->x_loading;
    if (!asked) self->failed(what, asked.error());
    self->begin_next();
}

void components::loaded(load what, result<engines::loaded_model> model, std::shared_ptr<const void> memory) {
    if (!model) return failed(std::move(what), model.error());
    const std::shared_ptr<component> into = what.into.lock();
    if (!into || into->model()) return let_go(*std::move(model));
    const std::int64_t took_ms = now_ms() - what.began_ms;
    runtime::metric_histogram(runtime::metrics::model_load_seconds, {{"runtime", what.source.runtime}})
        .observe_us(took_ms * 1'000);
    runtime::metric_gauge(runtime::metrics::models_loaded).add(1);
    if (model->tensors)
        runtime::metric_gauge(runtime::metrics::models_bytes)
            .add(static_cast<std::int64_t>(model->tensors->memory_bytes()));
    runtime::log(log_level::info, runtime::log_events::model_loaded,
                 {{"build", static_cast<std::int64_t>(what.source.key.build.value)},
                  {"runtime", what.source.runtime},
                  {"took_ms", took_ms}});
    into->set_model(*std::move(model), std::move(memory));
    report_all_of(into);
}

void components::failed(load what, const error& why) {
    const std::shared_ptr<component> into = what.into.lock();
    if (!into || x_is_ending) return;
    runtime::metric_counter(runtime::metrics::model_loads_failed, {{"runtime", what.source.runtime}}).add();
    log_failure(what.source, why.message);
    // If another try may help, the update has no answer yet: its deadline ends it.
    if (why.code != error_code::unavailable) {
        into->set_failure(why.message);
        report_all_of(into);
    } else {
        into->set_trouble(why.message);
    }
    const std::int64_t at_ms = now_ms() + what.retry_ms;
    what.retry_ms = std::min(what.retry_ms * 2, limits::model_load_retry_ms_max);
    x_with.loop.run_at(at_ms, runtime::if_alive(weak_from_this(), [what](components& self) {
                           self.x_waiting.push_back(what);
                           self.begin_next();
                       }));
}

/// The engine goes on trying: what it says again is said once.
void components::told_trouble(const load& what, const std::string& why) {
    const std::shared_ptr<component> into = what.into.lock();
    if (!into || into->model() || into->why_not_loaded() == why) return;
    into->set_trouble(why);
    log_failure(what.source, why);
}

void components::unload(engines::loaded_model model) {
    runtime::metric_gauge(runtime::metrics::models_loaded).add(-1);
    if (model.tensors)
        runtime::metric_gauge(runtime::metrics::models_bytes)
            .add(-static_cast<std::int64_t>(model.tensors->memory_bytes()));
    let_go(std::move(model));
}

/// On a thread that may block, unless there is none to be had.
void components::let_go(engines::loaded_model model) {
    const auto going = std::make_shared<engines::loaded_model>(std::move(model));
    using call = runtime::started_call<result<void>>;
    (void)call::start(x_with.loads, [going]() -> result<void> {
        *going = {};
        return {};
    });
}

// ---- telling the log, on the loop

void components::report_all_of(const std::shared_ptr<component>& about) {
    std::vector<schemas::update_id> updates;
    for (const auto& [update, waiting] : x_reports)
        if (waiting.about.lock() == about) updates.push_back(update);
    for (const schemas::update_id update : updates) report(update);
}

void components::report(schemas::update_id update) {
    const auto waiting = x_reports.find(update);
    if (waiting == x_reports.end() || waiting->second.is_sent || x_is_ending) return;
    const std::shared_ptr<component> about = waiting->second.about.lock();
    if (!about) {
        x_reports.erase(waiting);
        return;
    }
    if (!about->model() && !about->has_failed()) return;
    const auto me = x_with.registry.me();
    schemas::commands::component_ready ready;
    ready.update_id = update;
    ready.node = me.name;
    ready.boot = me.boot;
    if (!about->model())
        ready.error = runtime::shortened(about->why_not_loaded(), limits::stage_log_message_bytes_max);
    waiting->second.is_sent = true;
    const auto answered = runtime::if_alive(
        weak_from_this(),
        [update](components& self, const auto& outcome) { self.reported(update, outcome); });
    x_with.registry.submit(schemas::commands::component_ready::type, schemas::encode(ready), {},
                           x_with.random.uuid(), runtime::posted(x_with.loop, answered));
}

void components::reported(schemas::update_id update, const result<schemas::commands::outcome>& outcome) {
    // A refusal is an answer, too, but for the one before the log has the first heartbeat of this process.
    // The place stays, so that it is not told again, until the update ends or the component goes.
    if (outcome && outcome->code != static_cast<std::uint32_t>(error_code::aborted)) return;
    const auto waiting = x_reports.find(update);
    if (waiting == x_reports.end()) return;
    waiting->second.is_sent = false;
    x_with.loop.run_at(
        now_ms() + limits::report_retry_ms,
        runtime::if_alive(weak_from_this(), [update](components& self) { self.report(update); }));
}

engines::engine* components::engine_for(const component_source& source) const {
    const auto found = std::ranges::find_if(x_with.engines,
                                            [&](const auto& each) { return each->name() == source.runtime; });
    return found == x_with.engines.end() ? nullptr : found->get();
}

}  // namespace herald::api::serving
