// Callbacks that outlive their owner do nothing.
#pragma once

#include <memory>
#include <utility>

namespace herald::workers {

/// A member of the class whose callbacks it guards. The owner is destroyed, and guarded callbacks are called,
/// on one thread; they may be copied and dropped on any.
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

}  // namespace herald::workers
