// One call of a user at a time goes through many rows; the user's others wait for it.
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

    /// The user's turn, until it is dropped. May outlive the turns.
    using turn = std::shared_ptr<void>;
    /// Waits for the turns of the same user that were asked for before. Errors: resource_exhausted after
    /// limits::turn_wait_ms_max by `scheduler`, whose loop is the caller's.
    boost::asio::awaitable<result<turn>> take(schemas::user_id, runtime::scheduler&);

  private:
    class queues;
    const std::shared_ptr<queues> x_queues;
};

}  // namespace herald::api
