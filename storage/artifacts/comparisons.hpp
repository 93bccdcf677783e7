// Comparisons of whole objects with their digests, which take as long as reading them takes: one for each
// object, however many wait for it, and only a few at a time.
#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <string>

#include "runtime/error.hpp"
#include "runtime/event_loop.hpp"

namespace herald::storage::artifacts {

/// Thread-safe. All that wait must have ended when it is destroyed; its pool must outlive it.
class comparisons {
  public:
    comparisons(runtime::blocking_pool&, std::size_t at_a_time_max);
    ~comparisons();
    comparisons(const comparisons&) = delete;
    comparisons& operator=(const comparisons&) = delete;

    /// Runs on the pool. It should end soon, with any result, when the flag becomes true: then nobody waits
    /// any more. It owns all that it uses.
    using work = std::function<result<void>(const std::atomic<bool>& is_unwanted)>;
    /// Waits for the comparison of this object that is under way, or begins one when there is none. Errors:
    /// those of the work; unavailable when the pool is full; aborted when the wait was cancelled.
    boost::asio::awaitable<result<void>> wait_for(std::string object, work);

  private:
    class queue;
    const std::shared_ptr<queue> x_queue;
};

}  // namespace herald::storage::artifacts
