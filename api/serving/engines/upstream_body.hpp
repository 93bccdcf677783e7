// A long answer of a model's server, passed on as it comes.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/clock.hpp"
#include "runtime/http/body.hpp"
#include "runtime/http/client/client.hpp"

namespace herald::api::serving::engines {

/// Holds one piece. Used on the exchange's loop. Errors: deadline_exceeded at the deadline, which the
/// exchange has too; unavailable when the server broke off.
class upstream_body final : public runtime::http::body_stream {
  public:
    /// `owner` is what must outlive the exchange. The deadline is one of the clock's monotonic times.
    upstream_body(std::shared_ptr<const void> owner, std::unique_ptr<runtime::http::client::exchange>,
                  const runtime::clock&, std::int64_t deadline_ms);

    boost::asio::awaitable<result<std::string_view>> next() override;
    std::size_t bytes_held_max() const noexcept override;

  private:
    const std::shared_ptr<const void> x_owner;
    const std::unique_ptr<runtime::http::client::exchange> x_rest;
    const runtime::clock& x_time;
    const std::int64_t x_deadline_ms;
};

}  // namespace herald::api::serving::engines
