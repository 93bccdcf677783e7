// The final check of a component's answer, and its count (promise P7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "api/predictions/prediction_service.hpp"
#include "api/predictions/routed_prediction.hpp"
#include "api/predictions/routing.hpp"
#include "runtime/http/message.hpp"

namespace herald::api::predictions {

/// The second look, in the step in which the answer's first byte goes out (P7); at its end it is counted.
class last_look final : public runtime::http::send_guard {
  public:
    last_look(const prediction_parts&, const routed_prediction&);

    std::optional<runtime::http::http_response> instead() const override;
    /// The latency ends here: it measures the model, not how fast the client reads.
    void ended(std::uint16_t status) const override;

  private:
    const prediction_parts& x_with;
    const routed x_target;
    const bool x_is_v2;
    const bool x_is_counted;  // of inferences only: metadata says nothing about how a model predicts
    const std::size_t x_loop_index;
    const std::int64_t x_took_us;
    const std::string x_request_id;  // empty: it is not logged
};

}  // namespace herald::api::predictions
