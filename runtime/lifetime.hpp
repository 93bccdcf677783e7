// Callbacks that may come after their owner is gone: then they do nothing. Everywhere in Herald it is one of
// these two, by who calls.
#pragma once

#include <memory>
#include <utility>

#include "runtime/scheduler.hpp"

namespace herald::runtime {

/// For owners that live on one thread: a member of the class whose callbacks it guards. The owner is
/// destroyed, and guarded callbacks are called, on that thread; they may be copied and dropped on any.
class lifetime {
  public:
    template <class F>
    auto guard(F callback) const {
        return [alive = std::weak_ptr<const char>(x_alive), callback = std::move(callback)](auto&&... args) {
            if (!alive.expired()) callback(std::forward<decltype(args)>(args)...);
        };
    }

  private:
    std::shared_ptr<const char> x_alive = std::make_shared<const char>();
};

/// For owners that are shared, and called or let go of on several threads: `if_alive(weak_from_this(), f)`
/// calls f(owner, arguments…) and keeps the owner alive meanwhile. So the owner may end on the calling
/// thread: one that must not end on a thread of the log has the log's thread only post.
template <class Owner, class F>
auto if_alive(std::weak_ptr<Owner> owner, F callback) {
    return [owner = std::move(owner), callback = std::move(callback)](auto&&... args) {
        if (const std::shared_ptr<Owner> self = owner.lock())
            callback(*self, std::forward<decltype(args)>(args)...);
    };
}

/// Called on any thread, it posts `callback` with copies of the arguments to the scheduler, which must
/// outlive it. What a log calls is mostly posted(scheduler, if_alive(…)).
template <class F>
auto posted(scheduler& to, F callback) {
    return [&to, callback = std::move(callback)](const auto&... args) {
        to.post([callback, args...] { callback(args...); });
    };
}

}  // namespace herald::runtime
