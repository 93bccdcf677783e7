#include "runtime/http/client/awaiting.hpp"

#include <memory>

#include "runtime/completion.hpp"

namespace herald::runtime::http::client {

boost::asio::awaitable<result<std::string_view>> read_piece(exchange& from) {
    // Outlives this coroutine if that is cancelled: the exchange may call back until it is destroyed.
    const auto piece = std::make_shared<completion<result<std::string_view>>>();
    from.read([piece](const result<std::string_view>& came) { piece->give(came); });
    const auto stopped = [&] { piece->give(unavailable("stopped while a body was read")); };
    co_return co_await piece->wait(stopped);
}

}  // namespace herald::runtime::http::client
