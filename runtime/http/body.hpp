// A body that is not in memory as a whole: its consumer asks for piece after piece.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string_view>

#include "runtime/error.hpp"

namespace herald::runtime::http {

/// Belongs to one coroutine at a time, on one loop's thread. Nothing is read from the network or produced
/// before it is asked for, so the slowest party sets the pace and memory holds one piece.
class body_stream {
  public:
    virtual ~body_stream() = default;
    /// The next piece, valid until the next call; empty at the end. Must not be called again after the end or
    /// an error; after an error the body is incomplete.
    virtual boost::asio::awaitable<result<std::string_view>> next() = 0;
    /// The server is about to stop: a long-running stream must end now, with the piece that is awaited or the
    /// next one. Others may ignore this.
    virtual void wind_down() {}
};

}  // namespace herald::runtime::http
