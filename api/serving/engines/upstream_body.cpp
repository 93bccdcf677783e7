#include "api/serving/engines/upstream_body.hpp"

#include <utility>

#include "runtime/http/client/awaiting.hpp"
#include "runtime/http/limits.hpp"

namespace herald::api::serving::engines {

namespace client = runtime::http::client;

upstream_body::upstream_body(std::shared_ptr<const void> owner, std::unique_ptr<client::exchange> rest,
                             const runtime::clock& time, std::int64_t deadline_ms)
    : x_owner(std::move(owner)), x_rest(std::move(rest)), x_time(time), x_deadline_ms(deadline_ms) {}

namespace {

error is_late() {
    return {error_code::deadline_exceeded,
            "the upstream server did not finish its answer before the deadline", 0};
}

}  // namespace

boost::asio::awaitable<result<std::string_view>> upstream_body::next() {
    // A server that sends without a pause never lets the exchange wait until the deadline.
    if (x_time.steady_ms() >= x_deadline_ms) co_return is_late();
    auto piece = co_await client::read_piece(*x_rest);
    if (!piece && piece.error().code == error_code::deadline_exceeded) co_return is_late();
    co_return piece;
}

std::size_t upstream_body::bytes_held_max() const noexcept { return limits::http_piece_bytes_max; }

}  // namespace herald::api::serving::engines
