// Each user runs one long search at a time; the user's others wait.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "runtime/error.hpp"
#include "runtime/scheduler.hpp"
#include "schemas/ids.hpp"

namespace herald::api {

/// Thread-safe.
class turns {
  public:
    turns();
    ~turns();
    turns(const turns&) = delete;
    turns& operator=(const turns&) = delete;

    /// The user's turn; it ends when this is released. May outlive the turns object.
    using turn = std::shared_ptr<void>;
    /// Waits for the same user's earlier calls. Errors: resource_exhausted after limits::turn_wait_ms_max on
    /// the clock of `scheduler`, the caller's loop.
    boost::asio::awaitable<result<turn>> take(schemas::user_id, runtime::scheduler&);

  private:
    class queues;
    const std::shared_ptr<queues> x_queues;
};

}  // namespace herald::api
