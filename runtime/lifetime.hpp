// Callbacks that may come after their owner is destroyed: then they do nothing. All of Herald uses one of
// these two, depending on who calls.
#pragma once

#include <memory>
#include <utility>

#include "runtime/scheduler.hpp"

namespace herald::runtime {

/// For owners that live on one thread: a member of the class whose callbacks it guards. The owner is
/// destroyed, and guarded callbacks are called, on that thread; callbacks may be copied and destroyed on any.
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

/// For shared owners that are called or released on several threads: `if_alive(weak_from_this(), f)` calls
/// f(owner, arguments…) and keeps the owner alive during the call. So the owner may be destroyed on the
/// calling thread; if it must not be destroyed on a thread of the log, the log's thread may only post.
template <class Owner, class F>
auto if_alive(std::weak_ptr<Owner> owner, F callback) {
    return [owner = std::move(owner), callback = std::move(callback)](auto&&... args) {
        if (const std::shared_ptr<Owner> self = owner.lock())
            callback(*self, std::forward<decltype(args)>(args)...);
    };
}

/// When called, on any thread, it posts `callback` with copies of the arguments to the scheduler, which must
/// outlive it. Callbacks for a log are usually posted(scheduler, if_alive(…)).
template <class F>
auto posted(scheduler& to, F callback) {
    return [&to, callback = std::move(callback)](const auto&... args) {
        to.post([callback, args...] { callback(args...); });
    };
}

}  // namespace herald::runtime
