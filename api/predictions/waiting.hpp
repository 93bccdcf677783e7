// A prediction that waits for its model ends by itself: at its deadline, when its caller has left, and when
// the node's time to drain is over.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "api/predictions/limits.hpp"
#include "api/predictions/response_slot.hpp"
#include "runtime/deadline.hpp"
#include "runtime/error.hpp"
#include "runtime/http/server/request.hpp"

namespace herald::api::predictions {

/// For how long a response is worth waiting.
struct patience {
    runtime::event_loop& loop;                            // of the request
    std::int64_t deadline_ms = 0;                         // of the loop's steady time
    const runtime::http::server::peer* caller = nullptr;  // null: nobody can leave
    const std::atomic<bool>* is_drained = nullptr;        // waiting is over; null: never
};

inline error deadline_passed() {
    return {error_code::deadline_exceeded,
            "the prediction was not done within the endpoint's deadline (limits.deadline_ms)", 0};
}
inline error node_ends() { return runtime::unavailable("this node ends; try another"); }

/// Gives up a wait that takes too long. On the request's loop, beside a coroutine that waits for the slot;
/// made only when there is something to wait for.
template <class T>
class waiting {
  public:
    waiting(std::shared_ptr<response_slot<T>> slot, const patience& with)
        : x_slot(std::move(slot)), x_with(with), x_look(with.loop, [this] { look(); }) {
        look();
    }
    waiting(const waiting&) = delete;
    waiting& operator=(const waiting&) = delete;

  private:
    void look() {
        const std::int64_t now_ms = x_with.loop.time().steady_ms();
        if (now_ms >= x_with.deadline_ms) return x_slot->give_up(deadline_passed());
        if (x_with.is_drained && x_with.is_drained->load(std::memory_order_relaxed))
            return x_slot->give_up(node_ends());
        if (x_with.caller && x_with.caller->has_left())
            return x_slot->give_up({error_code::cancelled, "the caller left before the model answered", 0});
        x_look.set(std::min(x_with.deadline_ms, now_ms + limits::waiting_look_ms));
    }

    const std::shared_ptr<response_slot<T>> x_slot;
    const patience x_with;
    runtime::deadline x_look;
};

}  // namespace herald::api::predictions
