// Calls that nothing can end, on threads that the process can leave behind.
#pragma once

#include <functional>
#include <memory>

#include "runtime/error.hpp"
#include "schemas/tensors.hpp"

namespace herald::api::serving::builder {

/// A model that hangs while it is loaded must not hold up the end of the process, which ends by _exit and so
/// waits for no such thread. Thread-safe.
class lone_threads {
  public:
    using outcome = result<schemas::model_signature>;
    using call = std::function<outcome()>;

    lone_threads();
    /// Waits for `work`, on a thread of its own, and passes on what it returns or throws. The call owns all
    /// that it uses. Errors: also unavailable, once it is left behind or when no thread can be started.
    outcome run(call work);
    /// Nobody waits any more, from now on.
    void leave_behind();

  private:
    struct state;
    const std::shared_ptr<state> x_state;
};

}  // namespace herald::api::serving::builder
