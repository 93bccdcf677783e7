#include "api/serving/builder/builder_job.hpp"

#include <algorithm>
#include <utility>

#include "api/serving/builder/model_inspection.hpp"
#include "api/serving/images/image_tar.hpp"
#include "api/serving/model_cache/limits.hpp"
#include "runtime/deadline.hpp"
#include "runtime/lifetime.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/text.hpp"
#include "schemas/binary.hpp"
#include "storage/registry/find/artifacts.hpp"

namespace herald::api::serving::builder {
namespace {

using runtime::run_blocking;
using storage::artifacts::stored_object;
using storage::artifacts::task;

bool may_pass(const error& why) {
    return why.code == error_code::unavailable || why.code == error_code::resource_exhausted;
}

std::string mark_of(schemas::build_id build) { return std::to_string(build.value); }

/// On a thread that it may keep for ever: uses nothing of the job.
result<schemas::model_signature> load(model_cache::marked_load& mark, const std::filesystem::path& file,
                                      const builder_job::model_loader& loader) {
    // Also after a throw, and here: this thread may wait for the disk.
    struct at_end {
        model_cache::marked_load& mark;
        ~at_end() { mark.end(); }
    };
    const at_end ends{mark};
    if (const auto good = inspect_model_file(file); !good) return good.error();
    const auto before = mark.begin();
    if (!before) return before.error();
    if (*before >= limits::load_ends_max) {
        mark.forget();
        return runtime::invalid_argument(
            {"loading the model ended the process ", *before, " times; it is not tried again"});
    }
    return loader(file);
}

}  // namespace

void builder_job::end() {
    x_marks->let_off();
    x_with.loop.post(runtime::if_alive(weak_from_this(), [](builder_job& self) {
        self.x_token = 0;
        self.x_is_ending = true;
        if (self.x_look) self.x_look->give_up();
    }));
    x_tasks.stop();
    x_threads->leave_behind();
}

void builder_job::start(std::uint64_t token) {
    x_token = token;
    x_rests_until_ms.clear();
    look_later();
}

void builder_job::look_later() {
    if (std::exchange(x_is_planned, true)) return;
    x_with.loop.run_at(x_with.loop.time().steady_ms() + x_settings.interval_ms,
                       runtime::if_alive(weak_from_this(), [](builder_job& self) {
                           self.x_is_planned = false;
                           self.look();
                       }));
}

void builder_job::look() {
    if (x_token == 0) return;
    look_later();
    if (!std::exchange(x_is_making, true)) x_tasks.start("make_builds", make_next(shared_from_this()));
}

boost::asio::awaitable<void> builder_job::make_next(std::shared_ptr<builder_job> self) {
    try {
        bool is_found = true;
        while (is_found && self->x_token != 0 && self->is_able()) {
            std::erase_if(self->x_rests_until_ms, [now_ms = self->x_with.loop.time().steady_ms()](
                                                      const auto& rest) { return rest.second <= now_ms; });
            // The pool's thread looks at a copy: a new claim begins with none.
            const auto resting = self->x_rests_until_ms;
            const auto find = [&] { return self->next_build(resting); };
            auto build = co_await run_blocking(self->x_with.blocking, find);
            is_found = build.has_value();
            if (is_found) co_await self->make(*std::move(build));
        }
    } catch (...) {
        self->x_is_making = false;
        throw;
    }
    self->x_is_making = false;
}

/// Errors: not_found when none waits. On the blocking pool.
result<schemas::build> builder_job::next_build(const rests& resting) const {
    for (schemas::build& each : x_with.builds_to_make(*x_with.state.view()))
        if (!resting.contains(each.id.value)) return std::move(each);
    return runtime::not_found("no build waits");
}

boost::asio::awaitable<void> builder_job::make(schemas::build build) {
    const schemas::build_id id = build.id;
    auto made = co_await made_of(build);
    // Also after it was told: the command is applied a little later, or not at all.
    x_rests_until_ms[id.value] = x_with.loop.time().steady_ms() + x_settings.again_ms;
    if (!made && may_pass(made.error())) {
        runtime::log(runtime::log_level::warning, runtime::log_events::build_waits,
                     {{"build", std::to_string(id.value)}, {"reason", made.error().message}});
        co_return;
    }
    finished told;
    if (made)
        told = *std::move(made);
    else
        told.error = runtime::shortened(made.error().message, limits::build_message_bytes_max);
    told.build_id = id;
    tell(std::move(told));
}

result<std::vector<stored_object>> builder_job::model_of(const schemas::build& build) const {
    const auto view = x_with.state.view();
    auto blobs = storage::registry::find::model_of_build(*view, build);
    if (!blobs) return blobs.error();
    std::vector<stored_object> model;
    std::uint64_t bytes = 0;
    for (schemas::blob& each : *blobs) {
        bytes += each.bytes;
        model.push_back({std::move(each.object), std::move(each.digest), each.bytes});
    }
    if (bytes > x_settings.model_bytes_max)
        return runtime::invalid_argument(
            {"the model has ", bytes, " bytes; at most ", x_settings.model_bytes_max, " can be served"});
    return model;
}

/// Errors: those that end the build, and those that may_pass.
task<builder_job::finished> builder_job::made_of(const schemas::build& build) {
    const auto find = [&] { return model_of(build); };
    const auto model = co_await run_blocking(x_with.blocking, find);
    if (!model) co_return model.error();
    auto signature = co_await signature_of(build, *model);
    if (!signature) co_return signature.error();
    images::image_content content;
    content.build = build.id;
    content.version = build.model_version_id;
    content.model = *model;
    finished out;
    out.image_bytes = images::image_bytes(content);
    auto digest = co_await images::image_digest(x_with.artifacts, std::move(content));
    if (!digest) co_return digest.error();
    out.image_digest = *std::move(digest);
    out.base_url = x_settings.base_url;
    out.signature = *std::move(signature);
    co_return out;
}

/// The model's file is held only for as long as it is looked at.
task<schemas::model_signature> builder_job::signature_of(const schemas::build& build,
                                                         std::vector<stored_object> model) {
    const auto held = co_await x_with.models.get(std::move(model));
    if (!held) co_return held.error();
    co_return co_await looked(build.id, *held);
}

task<schemas::model_signature> builder_job::looked(schemas::build_id build,
                                                   std::shared_ptr<const model_cache::held_model> held) {
    if (!is_able()) co_return runtime::unavailable("this node loads no further models; see builder_stuck");
    const auto mark = std::make_shared<model_cache::marked_load>(x_marks, mark_of(build));
    const auto on_thread = [mark, held = std::move(held), loader = x_with.load] {
        return load(*mark, held->file(), loader);
    };
    const auto work = [threads = x_threads, on_thread] { return threads->run(on_thread); };
    const auto begun = look_at_model::start(x_with.looks, work);
    if (!begun) co_return begun.error();
    x_look = *begun;
    runtime::deadline bound(x_with.loop, [look = *begun] { look->give_up(); });
    bound.set_after(x_settings.look_ms_max);
    auto signature = co_await x_look->wait();
    const auto look = std::exchange(x_look, nullptr);
    if (!look->is_given_up()) co_return signature;
    if (x_is_ending) co_return runtime::unavailable("this process ends");
    // If the process ends from now on, the model is not the cause.
    const auto forget = [&]() -> result<void> {
        mark->end();
        return {};
    };
    (void)co_await run_blocking(x_with.blocking, forget);
    given_up(look);
    co_return runtime::invalid_argument(
        {"loading the model took more than ", x_settings.look_ms_max / 1'000, " s; it was given up"});
}

bool builder_job::is_able() const {
    const auto hang = std::ranges::count_if(x_given_up, [](const auto& each) { return !each->has_ended(); });
    return !x_is_ending && static_cast<std::size_t>(hang) < limits::build_looks_max;
}

void builder_job::given_up(std::shared_ptr<look_at_model> look) {
    std::erase_if(x_given_up, [](const auto& each) { return each->has_ended(); });
    x_given_up.push_back(std::move(look));
    if (!is_able())
        runtime::log(runtime::log_level::error, runtime::log_events::builder_stuck,
                     {{"loads", static_cast<std::int64_t>(x_given_up.size())}});
}

/// What the log does not take is made again: the state still has it as waiting.
void builder_job::tell(finished told) {
    if (x_token == 0) return;
    told.token = x_token;
    x_with.registry.submit(finished::type, schemas::encode(told), {}, x_with.random.uuid(),
                           [](const auto&) {});
}

}  // namespace herald::api::serving::builder
