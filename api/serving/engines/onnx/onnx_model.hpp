// A loaded ONNX model: which thread runs a request.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>

#include "api/serving/engines/engine.hpp"
#include "api/serving/engines/onnx/onnx_session.hpp"
#include "api/serving/engines/onnx/run_threads.hpp"
#include "runtime/mutex.hpp"

namespace herald::api::serving::engines::onnx {

/// Quick runs are made on the caller's thread: a change of threads costs more than they do. A request is
/// known to be quick when the model's work depends on shapes alone (steady_work.hpp), all its dimensions but
/// the first are declared, and one with as many rows was quick before, on a thread of the engine or when the
/// model was loaded. Should such a run take long nevertheless, no other is made there. All others wait for
/// one of the engine's threads, of which a model never has more than a quarter.
class onnx_model final : public tensor_model, public std::enable_shared_from_this<onnx_model> {
  public:
    onnx_model(std::unique_ptr<onnx_session>, std::shared_ptr<run_threads>,
               const std::filesystem::path& file);

    const schemas::model_signature& signature() const noexcept override { return x_session->signature(); }
    void infer(tensor_request, response_handler) override;
    bool is_quick() const noexcept override;
    std::optional<result<tensor_response>> infer_now(const tensor_request&) override;
    result<void> in_service() const override;
    std::uint64_t memory_bytes() const noexcept override { return x_memory_bytes; }

    /// Runs it with zeros: what the first run sets up is set up, and it is known whether one row is quick.
    /// Blocks for little longer than limits::onnx_warm_up_ms_max, or until it is cancelled (null: never).
    /// Errors: those of the run; a model that refuses zeros, or needs longer, is as good as any.
    result<void> warm_up(const std::shared_ptr<cancellation>&);

  private:
    struct waiting_request {
        tensor_request request;
        response_handler handler;
    };
    /// Which of x_quick_rows tells of it; none: it is never quick.
    std::optional<unsigned> place_of_rows(const tensor_request&) const;
    bool is_quick_with(const tensor_request&) const;
    result<tensor_response> run(const tensor_request&);
    result<tensor_response> run_here(const tensor_request&);
    result<tensor_response> run_timed(const tensor_request&, std::int64_t& took_ns);
    void enqueue(tensor_request, response_handler);
    bool put_behind_others(tensor_request&, response_handler&, bool& needs_thread);
    bool is_stuck() const noexcept { return x_session->late_runs_now() >= x_threads_max; }
    std::string why_stuck() const;
    void refuse_waiting();
    void run_waiting(waiting_request&);
    bool run_next();

    const std::unique_ptr<onnx_session> x_session;
    const std::shared_ptr<run_threads> x_threads;
    const std::size_t x_threads_max;
    bool x_may_be_quick = false;  // by its operators and declared shapes
    std::uint64_t x_memory_bytes = 0;
    std::atomic<std::int64_t> x_run_ns;          // moving average, of requests that may be quick
    std::atomic<std::uint64_t> x_quick_rows{0};  // a bit for each number of rows of which a run was quick
    std::atomic<bool> x_took_long_here{false};   // once; the machine may have been busy
    std::atomic<bool> x_held_up_a_caller{false};
    runtime::mutex x_mutex;
    std::deque<waiting_request> x_waiting GUARDED_BY(x_mutex);
    std::size_t x_running GUARDED_BY(x_mutex) = 0;  // threads that take from x_waiting
};

}  // namespace herald::api::serving::engines::onnx
