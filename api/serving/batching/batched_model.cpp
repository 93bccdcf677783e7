#include "api/serving/batching/batched_model.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <exception>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/serving/batching/limits.hpp"
#include "api/serving/batching/merging.hpp"
#include "runtime/clock.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/metrics.hpp"
#include "runtime/mutex.hpp"

namespace herald::api::serving::batching {

using engines::tensor_model;
using engines::tensor_request;
using engines::tensor_response;
using schemas::tensor;

namespace {

std::shared_ptr<runtime::counter> counter_of(const runtime::metric_name& what, schemas::build_id build) {
    return runtime::held_counter(what, {{"build", std::to_string(build.value)}});
}

error not_run(const std::exception& thrown) {
    if (dynamic_cast<const std::bad_alloc*>(&thrown))
        return runtime::resource_exhausted("this node has not enough memory for the prediction; try again");
    return runtime::internal({"the prediction was not run: ", thrown.what()});
}

/// What a handler throws ends neither its thread nor the others of its batch.
void handled(const tensor_model::response_handler& handler, result<tensor_response> given) {
    try {
        handler(std::move(given));
    } catch (const std::exception& thrown) {
        runtime::log(runtime::log_level::error, runtime::log_events::task_failed,
                     {{"task", "answer_prediction"}, {"reason", thrown.what()}});
    }
}

}  // namespace

/// What the callers' threads, the model's own and the inner model's share. Lives until the last batch is
/// answered.
class batched_model::gatherer : public std::enable_shared_from_this<batched_model::gatherer> {
  public:
    gatherer(std::shared_ptr<tensor_model> inner, schemas::build_id build,
             const schemas::batching_settings& settings)
        : x_inner(std::move(inner)),
          x_size_max(settings.size_max),
          x_delay(settings.delay_ms_max),
          x_batches(counter_of(runtime::metrics::prediction_batches, build)),
          x_batched_rows(counter_of(runtime::metrics::prediction_batch_rows, build)) {}

    void add(tensor_request, std::size_t rows, response_handler);
    void run();
    void end();
    std::size_t size_max() const noexcept { return x_size_max; }

  private:
    using time_point = std::chrono::steady_clock::time_point;
    struct waiting_request;
    using held_request = std::shared_ptr<waiting_request>;
    using deadlines = std::multimap<std::int64_t, held_request>;
    struct waiting_request {
        tensor_request request;
        std::size_t rows = 0;
        response_handler handler;
        time_point arrived;
        bool is_answered = false;  // guarded by the gatherer's mutex, as is the next
        std::optional<deadlines::iterator> place;
    };
    using batch = std::vector<held_request>;

    void expire() REQUIRES(x_mutex);
    time_point next_look() const REQUIRES(x_mutex);
    bool is_batch_due() const REQUIRES(x_mutex);
    static bool is_cancelled(const waiting_request&);
    batch take() REQUIRES(x_mutex);
    void run_batch(const batch&);
    void run_alone(const held_request&);
    bool finish_parts(const batch&, std::size_t total, const std::vector<tensor>& given);
    void batch_ended(const batch&, std::size_t total, const result<tensor_response>&);
    void finish(const held_request&, result<tensor_response>);

    const std::shared_ptr<tensor_model> x_inner;
    const std::size_t x_size_max;
    const std::chrono::milliseconds x_delay;
    const std::shared_ptr<runtime::counter> x_batches;  // shown as long as the model is loaded
    const std::shared_ptr<runtime::counter> x_batched_rows;
    runtime::mutex x_mutex;
    runtime::condition_variable x_changed;
    std::deque<held_request> x_waiting GUARDED_BY(x_mutex);
    std::size_t x_waiting_rows GUARDED_BY(x_mutex) = 0;
    deadlines x_deadlines GUARDED_BY(x_mutex);      // of all that are not answered
    std::size_t x_running GUARDED_BY(x_mutex) = 0;  // batches
    bool x_is_ending GUARDED_BY(x_mutex) = false;
};

void batched_model::gatherer::add(tensor_request request, std::size_t rows, response_handler handler) {
    const auto held = std::make_shared<waiting_request>();
    held->request = std::move(request);
    held->rows = rows;
    held->handler = std::move(handler);
    held->arrived = std::chrono::steady_clock::now();
    bool is_full = false;
    bool is_worth_a_look = false;
    {
        const runtime::lock_guard lock(x_mutex);
        is_full = x_waiting.size() >= limits::batch_requests_waiting_max;
        if (!is_full) {
            const auto deadline = held->request.deadline_ms;
            // The thread sleeps until the oldest request is due; a fuller batch or an earlier deadline wakes
            // it.
            is_worth_a_look =
                x_waiting.empty() || x_waiting_rows + rows >= x_size_max ||
                (deadline != 0 && (x_deadlines.empty() || deadline < x_deadlines.begin()->first));
            if (deadline != 0) held->place = x_deadlines.emplace(deadline, held);
            x_waiting.push_back(held);
            x_waiting_rows += rows;
        }
    }
    if (is_worth_a_look) x_changed.notify_one();
    if (is_full)
        held->handler(
            runtime::resource_exhausted({"too many predictions are waiting for this model (at most ",
                                         limits::batch_requests_waiting_max, " may); try again"}));
}

void batched_model::gatherer::end() {
    const runtime::lock_guard lock(x_mutex);
    x_is_ending = true;
    x_changed.notify_one();
}

// ---- the model's own thread

void batched_model::gatherer::run() {
    const auto self = shared_from_this();  // what it answers may be the last to hold the model
    const runtime::lock_guard lock(x_mutex);
    for (;;) {
        expire();
        if (x_is_ending && x_waiting.empty() && x_running == 0) return;
        if (!is_batch_due()) {
            x_changed.wait_until(x_mutex, next_look());
            continue;
        }
        const batch next = take();
        if (next.empty()) continue;
        ++x_running;
        const runtime::unlock_guard unlocked(x_mutex);
        run_batch(next);
    }
}

bool batched_model::gatherer::is_batch_due() const {
    if (x_running >= limits::batches_running_max || x_waiting.empty()) return false;
    return x_is_ending || x_waiting_rows >= x_size_max ||
           x_waiting.front()->arrived + x_delay <= std::chrono::steady_clock::now();
}

/// When there is something to do though nothing changes.
batched_model::gatherer::time_point batched_model::gatherer::next_look() const {
    time_point out = std::chrono::steady_clock::now() + std::chrono::hours(1);
    if (x_running < limits::batches_running_max && !x_waiting.empty())
        out = x_waiting.front()->arrived + x_delay;
    if (!x_deadlines.empty()) {
        const std::int64_t left_ms = x_deadlines.begin()->first - runtime::system_clock().steady_ms();
        out = std::min(out, std::chrono::steady_clock::now() +
                                std::chrono::milliseconds(std::max<std::int64_t>(left_ms, 0)));
    }
    return out;
}

/// Answers what has passed its deadline, waiting or running.
void batched_model::gatherer::expire() {
    const std::int64_t now_ms = runtime::system_clock().steady_ms();
    while (!x_deadlines.empty() && x_deadlines.begin()->first <= now_ms) {
        const held_request late = x_deadlines.begin()->second;
        x_deadlines.erase(x_deadlines.begin());
        late->place.reset();
        late->is_answered = true;
        const auto handler = std::move(late->handler);
        const runtime::unlock_guard unlocked(x_mutex);
        handled(handler, error{error_code::deadline_exceeded,
                               "the model did not finish before the prediction's deadline"});
    }
}

bool batched_model::gatherer::is_cancelled(const waiting_request& one) {
    return one.request.cancelled && one.request.cancelled->is_cancelled();
}

/// The oldest request and what can be merged with it.
batched_model::gatherer::batch batched_model::gatherer::take() {
    batch out;
    batch cancelled;
    std::size_t rows = 0;
    std::deque<held_request> left;
    for (auto& each : x_waiting) {
        if (each->is_answered) {
            x_waiting_rows -= each->rows;
        } else if (is_cancelled(*each)) {
            x_waiting_rows -= each->rows;
            cancelled.push_back(std::move(each));
        } else if (out.empty() ||
                   (rows + each->rows <= x_size_max && can_merge(out.front()->request, each->request))) {
            rows += each->rows;
            x_waiting_rows -= each->rows;
            out.push_back(std::move(each));
        } else {
            left.push_back(std::move(each));
        }
    }
    x_waiting.swap(left);
    const runtime::unlock_guard unlocked(x_mutex);
    for (const auto& each : cancelled)
        finish(each, error{error_code::cancelled, "it was cancelled before the model ran", 0});
    return out;
}

// ---- on the thread that runs the inner model, too

void batched_model::gatherer::run_batch(const batch& all) {
    std::size_t rows = 0;
    std::vector<const tensor_request*> places;
    for (const auto& each : all) {
        rows += each->rows;
        places.push_back(&each->request);
    }
    const std::size_t total = size_class(rows, x_size_max);
    x_batches->add();
    x_batched_rows->add(rows);
    const std::size_t rows_run = all.size() == 1 ? rows : total;
    // Of the call and the response, whichever is first to end it.
    const auto is_ended = std::make_shared<std::atomic_flag>();
    const auto end = [self = shared_from_this(), all, rows_run,
                      is_ended](const result<tensor_response>& given) {
        if (!is_ended->test_and_set()) self->batch_ended(all, rows_run, given);
    };
    try {
        if (all.size() == 1) return x_inner->infer(std::move(all.front()->request), end);
        tensor_request together = merged(places, total);
        together.is_a_try = true;
        x_inner->infer(std::move(together), end);
    } catch (const std::exception& thrown) {
        end(not_run(thrown));
    }
}

void batched_model::gatherer::run_alone(const held_request& one) {
    try {
        x_inner->infer(one->request, [self = shared_from_this(), one](result<tensor_response> given) {
            self->finish(one, std::move(given));
        });
    } catch (const std::exception& thrown) {
        finish(one, not_run(thrown));
    }
}

void batched_model::gatherer::batch_ended(const batch& all, std::size_t total,
                                          const result<tensor_response>& given) {
    {
        const runtime::lock_guard lock(x_mutex);
        --x_running;
    }
    x_changed.notify_one();
    if (all.size() == 1) return finish(all.front(), given);
    if (given) {
        if (finish_parts(all, total, *given)) return;
    } else if (given.error().code != error_code::invalid_argument) {
        for (const auto& each : all) finish(each, given.error());
        return;
    }
    // One of them may be what the model refused: none is to suffer for another.
    for (const auto& each : all) run_alone(each);
}

/// False when the outputs cannot be split.
bool batched_model::gatherer::finish_parts(const batch& all, std::size_t total,
                                           const std::vector<tensor>& given) {
    try {
        std::vector<std::size_t> rows;
        for (const auto& each : all) rows.push_back(each->rows);
        auto parts = split(given, rows, total);
        if (!parts) return false;
        for (std::size_t part = 0; part < all.size(); ++part) finish(all[part], std::move((*parts)[part]));
    } catch (const std::bad_alloc& thrown) {
        for (const auto& each : all) finish(each, not_run(thrown));
    }
    return true;
}

void batched_model::gatherer::finish(const held_request& one, result<tensor_response> given) {
    response_handler handler;
    {
        const runtime::lock_guard lock(x_mutex);
        if (one->is_answered) return;
        one->is_answered = true;
        if (one->place) x_deadlines.erase(*one->place);
        one->place.reset();
        handler = std::move(one->handler);
    }
    handled(handler, std::move(given));
}

// ---- the model

batched_model::batched_model(std::shared_ptr<tensor_model> inner, schemas::build_id build,
                             const schemas::batching_settings& settings)
    : x_inner(std::move(inner)), x_gatherer(std::make_shared<gatherer>(x_inner, build, settings)) {
    x_thread = std::thread([with = x_gatherer] { with->run(); });
}

batched_model::~batched_model() {
    x_gatherer->end();
    // When a response's handler was the last to hold the model, this is its own thread: it ends right after.
    if (x_thread.get_id() == std::this_thread::get_id())
        x_thread.detach();
    else
        x_thread.join();
}

void batched_model::infer(tensor_request request, response_handler handler) {
    const auto rows = rows_of(request);
    if (!rows || *rows == 0 || *rows >= x_gatherer->size_max())
        return x_inner->infer(std::move(request), std::move(handler));
    x_gatherer->add(std::move(request), *rows, std::move(handler));
}

}  // namespace herald::api::serving::batching
