// A body that is not in memory as a whole: its consumer asks for piece after piece.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
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
    /// True while the next bytes need not pass through this process: send_to() may then take the place of
    /// next().
    virtual bool can_send_to_socket() const noexcept { return false; }
    /// Sends of the next bytes, at most so many, what the socket takes at once; the socket is connected and
    /// does not block. Returns how many were sent: 0 when it takes none now. Errors: aborted when the peer is
    /// gone; else as next().
    virtual boost::asio::awaitable<result<std::size_t>> send_to([[maybe_unused]] int socket,
                                                                [[maybe_unused]] std::uint64_t bytes_max) {
        co_return std::size_t{0};
    }
    /// The server is about to stop: a long-running stream must end now, with the piece that is awaited or the
    /// next one. Others may ignore this.
    virtual void wind_down() {}
    /// What of it may be in memory while nobody reads it: as an answer, it is let in only while there is room
    /// for so much. 0 where something else bounds how many there are.
    virtual std::size_t bytes_held_max() const noexcept { return 0; }
};

}  // namespace herald::runtime::http
