// A body that is not there as a whole: whoever takes it asks for piece after piece.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string_view>

#include "runtime/error.hpp"

namespace herald::runtime::http {

/// Belongs to one coroutine at a time, on one loop's thread. What nobody asks for is neither read from the
/// network nor made, so that the slowest part of the way sets the pace and memory holds a piece.
class body_stream {
  public:
    virtual ~body_stream() = default;
    /// The next piece, valid until the next call; empty at the end. Not to be called again after the end or
    /// an error: then the body is not whole.
    virtual boost::asio::awaitable<result<std::string_view>> next() = 0;
    /// The server is about to stop: one that would go on for long ends now, with the piece that is awaited or
    /// the one after it. Others need not care.
    virtual void wind_down() {}
};

}  // namespace herald::runtime::http
