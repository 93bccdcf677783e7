#include "api/serving/engines/blocking_inference.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "api/serving/engines/limits.hpp"
#include "runtime/clock.hpp"
#include "runtime/mutex.hpp"

namespace herald::api::serving::engines {
namespace {

/// Lives until the model has answered, even if nobody waits any more.
struct shared_response {
    runtime::mutex mutex;
    runtime::condition_variable is_there;
    std::optional<result<tensor_response>> value GUARDED_BY(mutex);
};

}  // namespace

result<tensor_response> infer_and_wait(tensor_model& model, tensor_request request) {
    const auto cancelled = request.cancelled;
    const std::int64_t until_ms = request.deadline_ms + limits::blocking_inference_ending_ms_max;
    const auto place = std::make_shared<shared_response>();
    model.infer(std::move(request), [place](result<tensor_response> given) {
        const runtime::lock_guard lock(place->mutex);
        place->value = std::move(given);
        place->is_there.notify_one();
    });
    shared_response& got = *place;
    const runtime::lock_guard lock(got.mutex);
    const auto is_there = [&got]() REQUIRES(got.mutex) { return got.value.has_value(); };
    while (!got.is_there.wait_for(got.mutex, std::chrono::milliseconds(limits::blocking_inference_look_ms),
                                  is_there)) {
        if (cancelled && cancelled->is_cancelled())
            return error{error_code::cancelled, "nobody waits for it any more", 0};
        if (runtime::system_clock().steady_ms() > until_ms)
            return error{error_code::deadline_exceeded, "the model did not finish before the deadline", 0};
    }
    return *std::move(got.value);
}

}  // namespace herald::api::serving::engines
