// What runs models. An engine loads one that takes inference requests: either tensors, or whole bodies that
// it passes on. A further engine is a file that implements these, a line in the composition, and its name in
// schemas/runtimes.hpp, which says what builds it runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/serving/engines/cancellation.hpp"
#include "runtime/error.hpp"
#include "runtime/http/body.hpp"
#include "schemas/endpoints.hpp"
#include "schemas/ids.hpp"
#include "schemas/runtimes.hpp"
#include "schemas/tensors.hpp"

namespace herald::api::serving::engines {

/// An inference request of tensors. All of it is owned by the caller; it is moved through.
struct tensor_request {
    std::vector<schemas::tensor>
        inputs;                          // each input of the signature once, checked against it, in its order
    std::vector<std::uint32_t> outputs;  // places in the signature; empty: all
    std::int64_t deadline_ms = 0;        // of runtime::clock's monotonic time; 0: none
    std::shared_ptr<cancellation> cancelled;  // null: nobody can cancel it
    std::shared_ptr<const void> memory{};  // the share of a bound that it takes, let go with it; may be null
    bool is_a_try = false;  // of Herald's own, or of several callers and repeated for each if it fails
};

/// One tensor for each output that the request names.
using tensor_response = std::vector<schemas::tensor>;

/// A model that takes and gives tensors. Thread-safe; lives until the last request is answered.
class tensor_model {
  public:
    /// Called exactly once, from inside infer() or later on any thread. Of a request that was cancelled with
    /// whatever there is: at once when it runs, else when its turn comes. Errors: invalid_argument with the
    /// model's own text when it refuses the values; deadline_exceeded; resource_exhausted when too many wait;
    /// internal.
    using response_handler = std::function<void(result<tensor_response>)>;

    virtual ~tensor_model() = default;
    virtual const schemas::model_signature& signature() const noexcept = 0;
    /// Runs at once on the calling thread when the model is known to be quick, else elsewhere.
    virtual void infer(tensor_request, response_handler) = 0;
    /// Whether infer_now() answers most requests.
    virtual bool is_quick() const noexcept { return false; }
    /// The response of a run on the calling thread, when the model is known to be quick with such a request;
    /// otherwise none: infer() gives it. The request has no deadline, and nobody can cancel it.
    virtual std::optional<result<tensor_response>> infer_now(const tensor_request&) { return std::nullopt; }
    /// Errors: unavailable, for people, when it answers no more.
    virtual result<void> in_service() const { return {}; }
    /// An estimate of what it holds in memory.
    virtual std::uint64_t memory_bytes() const noexcept = 0;
};

/// An inference request in whatever form the model's server reads.
struct body_request {
    std::string request_id;
    std::string content_type;      // empty: JSON
    std::string body;              // never compressed
    std::int64_t deadline_ms = 0;  // as in tensor_request
    std::shared_ptr<cancellation> cancelled;
};

struct body_response {
    std::uint16_t status = 200;
    std::string content_type;
    std::string content_encoding;
    std::string body;
    /// Replaces `body` if not null: a long one, or one of unknown length. Belongs to the loop on which
    /// infer() was called; keeps the model.
    std::shared_ptr<runtime::http::body_stream> stream;
    std::optional<std::uint64_t> stream_bytes;  // in total, if known
    std::string retry_after;                    // of a 429
};

/// A model that takes and gives bodies. Thread-safe.
class body_model {
  public:
    /// Called once, or not at all when the request is cancelled; never from inside infer(); on the loop on
    /// which that was called, if the engine has it. Errors: deadline_exceeded; unavailable; internal, with
    /// http_status_override 502 for whatever the other side does wrong.
    using response_handler = std::function<void(result<body_response>)>;

    virtual ~body_model() = default;
    virtual void infer(body_request, response_handler) = 0;
};

/// Exactly one of the two models is there.
struct loaded_model {
    std::shared_ptr<tensor_model> tensors;
    std::shared_ptr<body_model> bodies;
    std::string platform{};  // in metadata, as the Open Inference Protocol names platforms
};

/// What is to be loaded.
struct model_source {
    schemas::build_id build;
    std::filesystem::path file;  // the model's bytes, verified; empty for an engine that needs none
    std::string upstream_url;
    std::string health_path;  // empty: a connection is enough
    schemas::batching_settings batching;
    std::filesystem::path end_mark{};  // gets a byte for each run that ends the process; empty: none does
    /// Called on any thread, any number of times before the load calls back: why it is not loaded yet, while
    /// the engine goes on trying. May be empty.
    std::function<void(const std::string& why)> tell_trouble;
    std::shared_ptr<cancellation> cancelled;  // when nobody wants it any more; null: never
};

class engine {
  public:
    using load_handler = std::function<void(result<loaded_model>)>;

    virtual ~engine() = default;
    /// One of schemas::runtimes.
    virtual std::string_view name() const noexcept = 0;
    /// Loads and warms up. Called on a thread that may block; calls back once, there or later on any thread.
    /// What it runs meanwhile is ended when the source is cancelled. Errors: invalid_argument saying why the
    /// model cannot be served; unavailable when another try may help; cancelled.
    virtual void load(const model_source&, load_handler) = 0;
};

}  // namespace herald::api::serving::engines
