// A prediction's way to a model of tensors and back, a class for each dialect: read() makes the model's
// request of the HTTP body, write() the answer's body of the outputs. Made for one prediction, which outlives
// it.
#pragma once

#include "api/predictions/json_dialect.hpp"
#include "api/predictions/prediction_memory.hpp"
#include "api/predictions/routed_prediction.hpp"
#include "api/predictions/v2_dialect.hpp"
#include "api/serving/component.hpp"
#include "runtime/error.hpp"
#include "runtime/http/message.hpp"
#include "schemas/json.hpp"
#include "schemas/tensors.hpp"

namespace herald::api::predictions {

/// What each of them has.
class exchange {
  public:
    exchange(const routed_prediction& of, const schemas::model_signature& signature)
        : x_of(of), x_signature(signature) {}

  protected:
    const routed_prediction& x_of;
    const schemas::model_signature& x_signature;
};

/// Errors of all three, of read(): those of the dialect and of inflate_body; unavailable when the inputs find
/// no room. They need it until the model has answered. Of write(): those of the dialect; failed_precondition
/// for a body that is too long.
class json_exchange : public exchange {
  public:
    using exchange::exchange;
    result<serving::engines::tensor_request> read(prediction_memory& memory);
    result<void> write(const tensors& outputs, runtime::http::http_response& out) const;
};

class table_exchange : public exchange {
  public:
    using exchange::exchange;
    result<serving::engines::tensor_request> read(prediction_memory& memory);
    result<void> write(const tensors& outputs, runtime::http::http_response& out) const;

  private:
    schemas::json_value x_index;
};

class v2_exchange : public exchange {
  public:
    using exchange::exchange;
    result<serving::engines::tensor_request> read(prediction_memory& memory);
    result<void> write(const tensors& outputs, runtime::http::http_response& out) const;

  private:
    v2_request x_request;  // its inputs are in the request that was read
};

}  // namespace herald::api::predictions
