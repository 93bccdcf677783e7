// A model whose waiting requests run together.
#pragma once

#include <cstdint>
#include <memory>
#include <thread>

#include "api/serving/engines/engine.hpp"
#include "schemas/endpoints.hpp"
#include "schemas/ids.hpp"

namespace herald::api::serving::batching {

/// For a model that passed try_batching. A request waits until `size_max` rows are there or it has waited
/// `delay_ms_max`, and as long as limits::batches_running_max others run; what came until then runs as one,
/// the oldest first.
/// Requests that can be no part of a batch run at once: of no rows, of `size_max` or more, or of inputs with
/// different rows, which the model itself refuses.
///
/// Each keeps its deadline, waiting or running; one that has passed takes no place in a batch. When a batch
/// is refused its requests run one by one, so that each gets its own response. At most
/// limits::batch_requests_waiting_max wait; a further one is answered resource_exhausted. Responses come from
/// its own thread or the inner model's. Destroying it answers what waits first.
class batched_model final : public engines::tensor_model {
  public:
    batched_model(std::shared_ptr<engines::tensor_model>, schemas::build_id,
                  const schemas::batching_settings&);
    ~batched_model() override;

    const schemas::model_signature& signature() const noexcept override { return x_inner->signature(); }
    void infer(engines::tensor_request, response_handler) override;
    result<void> in_service() const override { return x_inner->in_service(); }
    std::uint64_t memory_bytes() const noexcept override { return x_inner->memory_bytes(); }

  private:
    class gatherer;

    const std::shared_ptr<engines::tensor_model> x_inner;
    const std::shared_ptr<gatherer> x_gatherer;
    std::thread x_thread;
};

}  // namespace herald::api::serving::batching
