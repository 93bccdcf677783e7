// One POST to a webhook and its result: the boundary between the worker, which decides, and the network. The
// real transport is http_transport.hpp; the simulation has its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/http/client/client.hpp"
#include "runtime/http/message.hpp"
#include "schemas/webhooks.hpp"
#include "workers/limits.hpp"

namespace herald::workers {

struct delivery_request {
    schemas::webhook_id webhook_id;
    std::string location;  // checked again at each attempt: form, address policy
    /// Without host, content-length, connection and transfer-encoding: the transport adds those.
    std::vector<runtime::http::header> headers;
    std::shared_ptr<const std::string> body;                    // the bytes that were signed
    std::int64_t deadline_ms = limits::delivery_deadline_ms;    // for the whole attempt
    std::int64_t connect_ms_max = limits::delivery_connect_ms;  // of that, until TCP is connected
};

using runtime::http::client::phase_times;

struct delivery_answer {
    /// Present only if the answer was correctly framed as far as it was read.
    std::optional<std::uint16_t> status;
    std::vector<runtime::http::header>
        headers;       // as received; at most limits::answer_header_bytes_max in all
    std::string body;  // at most limits::answer_body_bytes_max, never decompressed
    /// none: 2xx; status: any other answer.
    schemas::delivery_error error = schemas::delivery_error::none;
    std::string message;  // what went wrong, for people who look at the delivery
    /// The location contained an address or was refused for its form: a repeat would be refused again. Set
    /// only with address_not_allowed.
    bool refused_for_good = false;
    /// Herald itself ran out of descriptors or memory: nothing is known about the receiver.
    bool own_shortage = false;
    /// How long the receiver took to answer: from the last byte that was sent to it to the last byte that
    /// came, as the kernel saw it, so that a late loop does not count. Empty when nothing came.
    std::optional<std::int64_t> answer_ms;
    std::string address;  // the last address tried, "192.0.2.1:443"; empty: none
    phase_times times;
};

/// A running attempt.
class attempt_handle {
  public:
    /// Cancels the attempt: closes what is open; the callback is dropped and never called.
    virtual ~attempt_handle() = default;
    /// True from just before the first byte of the request goes to the network: from then on the receiver may
    /// have it.
    virtual bool on_the_wire() const noexcept = 0;
};

/// Lives on one thread, where it is called and calls back. Outlives its handles.
class transport {
  public:
    using callback = std::function<void(delivery_answer)>;
    virtual ~transport() = default;
    /// Calls back exactly once within the deadline, but never from inside post(), and does not throw;
    /// failures are in the answer. The handle may be destroyed in the callback.
    virtual std::unique_ptr<attempt_handle> post(delivery_request, callback) = 0;
};

}  // namespace herald::workers
