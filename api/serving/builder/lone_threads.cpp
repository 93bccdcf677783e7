#include "api/serving/builder/lone_threads.hpp"

#include <exception>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "runtime/mutex.hpp"

namespace herald::api::serving::builder {

struct lone_threads::state {
    runtime::mutex mutex;
    runtime::condition_variable changed;
    bool is_left GUARDED_BY(mutex) = false;
};

namespace {

/// Written by the call's thread, under the mutex of the state.
struct answer {
    std::optional<lone_threads::outcome> out;
    std::exception_ptr thrown;
};

}  // namespace

lone_threads::lone_threads() : x_state(std::make_shared<state>()) {}

lone_threads::outcome lone_threads::run(call work) {
    const auto mine = std::make_shared<answer>();
    auto on_thread = [room = x_state, mine, work = std::move(work)]() mutable {
        answer came;
        try {
            came.out.emplace(work());
        } catch (...) {
            came.thrown = std::current_exception();
        }
        work = nullptr;  // what it owns is gone before it counts as done
        const runtime::lock_guard lock(room->mutex);
        *mine = std::move(came);
        room->changed.notify_all();
    };
    try {
        std::thread(std::move(on_thread)).detach();
    } catch (const std::system_error&) {
        return runtime::unavailable("no thread can be started to load the model; try again");
    }
    const runtime::lock_guard lock(x_state->mutex);
    const auto is_over = [&]() REQUIRES(x_state->mutex) {
        return mine->out || mine->thrown || x_state->is_left;
    };
    x_state->changed.wait(x_state->mutex, is_over);
    if (mine->thrown) std::rethrow_exception(mine->thrown);
    if (!mine->out) return runtime::unavailable("this process ends");
    return *std::move(mine->out);
}

void lone_threads::leave_behind() {
    const runtime::lock_guard lock(x_state->mutex);
    x_state->is_left = true;
    x_state->changed.notify_all();
}

}  // namespace herald::api::serving::builder
