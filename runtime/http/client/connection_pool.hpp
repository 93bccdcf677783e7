// Idle connections, waiting for their receiver's next delivery.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/http/client/connection.hpp"

namespace herald::runtime::http::client {

/// Holds at most `count_max` in total, and drops the oldest first; drops each after `idle_ms_max`, or soon
/// after its receiver closed it. On the thread of its io_context.
class connection_pool : public std::enable_shared_from_this<connection_pool> {
  public:
    connection_pool(boost::asio::io_context&, std::size_t count_max, std::int64_t idle_ms_max);

    /// `receiver` distinguishes what must not share connections.
    void put(const std::string& receiver, const ip_address&, std::shared_ptr<connection>);
    struct taken {
        std::shared_ptr<connection> held;
        ip_address address;  // that it was put with
    };
    /// A connection to any of the addresses that is still fit for a request; null when there is none.
    taken take(const std::string& receiver, std::span<const ip_address>);
    /// False when there was none.
    bool drop_oldest();
    /// The oldest one of a receiver whose name ends so. False when there was none.
    bool drop_oldest_of(std::string_view end_of_receiver);
    void close();

  private:
    struct idle {
        std::string receiver;
        ip_address address;
        std::shared_ptr<connection> held;
        std::chrono::steady_clock::time_point until;
    };

    void sweep_later();
    void sweep();

    std::size_t x_count_max;
    std::chrono::milliseconds x_idle_max;
    std::list<idle> x_idle;  // oldest first
    boost::asio::steady_timer x_timer;
    bool x_timer_set = false;
};

}  // namespace herald::runtime::http::client
