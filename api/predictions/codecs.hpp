// A prediction's way to a model of tensors and back, a class for each dialect: decode() makes the model's
// request from the HTTP body, encode() the answer's body from the outputs. Made for one prediction, which
// outlives it.
#pragma once

#include <variant>

#include "api/predictions/json_dialect.hpp"
#include "api/predictions/prediction_memory.hpp"
#include "api/predictions/routed_prediction.hpp"
#include "api/predictions/v2_dialect.hpp"
#include "runtime/error.hpp"
#include "runtime/http/message.hpp"
#include "schemas/json.hpp"
#include "schemas/tensors.hpp"

namespace herald::api::predictions {

/// What each of them has.
class codec_base {
  public:
    codec_base(const routed_prediction& of, const schemas::model_signature& signature)
        : x_of(of), x_signature(signature) {}

  protected:
    /// As the caller can read it: null for `Accept: application/json; strict`.
    not_finite written() const;
    /// Says in svc-warning what stands for numbers that JSON has no words for, if the output has some.
    static void warn_of(const schemas::tensor&, not_finite, runtime::http::http_response& out);

    const routed_prediction& x_of;
    const schemas::model_signature& x_signature;
};

/// decode() errors: those of the dialect and of inflate_body; resource_exhausted when there is no room for
/// the inputs, which stay until the model has answered. encode() errors: those of the dialect;
/// failed_precondition for a body that is too long. The other two are alike.
class json_codec : public codec_base {
  public:
    using codec_base::codec_base;
    result<serving::engines::tensor_request> decode(prediction_memory& memory);
    result<void> encode(const tensors& outputs, runtime::http::http_response& out) const;
};

class table_codec : public codec_base {
  public:
    using codec_base::codec_base;
    result<serving::engines::tensor_request> decode(prediction_memory& memory);
    result<void> encode(const tensors& outputs, runtime::http::http_response& out) const;

  private:
    schemas::json_value x_index;
};

class v2_codec : public codec_base {
  public:
    using codec_base::codec_base;
    result<serving::engines::tensor_request> decode(prediction_memory& memory);
    result<void> encode(const tensors& outputs, runtime::http::http_response& out) const;

  private:
    v2_request x_request;  // its inputs are in the decoded request
};

/// The one for the dialect of the prediction's path.
class codec {
  public:
    codec(const routed_prediction& of, const schemas::model_signature& signature)
        : x_dialect(chosen(of, signature)) {}
    result<serving::engines::tensor_request> decode(prediction_memory& memory) {
        return std::visit([&](auto& dialect) { return dialect.decode(memory); }, x_dialect);
    }
    result<void> encode(const tensors& outputs, runtime::http::http_response& out) const {
        return std::visit([&](const auto& dialect) { return dialect.encode(outputs, out); }, x_dialect);
    }

  private:
    using dialects = std::variant<json_codec, table_codec, v2_codec>;

    static dialects chosen(const routed_prediction&, const schemas::model_signature&);

    dialects x_dialect;
};

}  // namespace herald::api::predictions
