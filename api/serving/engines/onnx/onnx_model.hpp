// A loaded ONNX model: which thread runs a question.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>

#include "api/serving/engines/engine.hpp"
#include "api/serving/engines/onnx/onnx_session.hpp"
#include "api/serving/engines/onnx/run_threads.hpp"
#include "runtime/mutex.hpp"

namespace herald::api::serving::engines::onnx {

/// Quick models run where they are asked: a change of threads costs more than their run. A model has to show
/// that it is quick, and must have no operator whose work depends on values (Loop, Expand …), which could be
/// quick today and hold up the thread tomorrow. All others wait for one of the engine's threads.
class onnx_model final : public tensor_model, public std::enable_shared_from_this<onnx_model> {
  public:
    onnx_model(std::unique_ptr<onnx_session>, std::shared_ptr<run_threads>,
               const std::filesystem::path& file);

    const schemas::model_signature& signature() const noexcept override { return x_session->signature(); }
    void ask(tensor_question, answer_handler) override;
    std::uint64_t memory_bytes() const noexcept override { return x_memory_bytes; }

    /// Runs it with zeros: what the first run sets up is set up, and it is known how quick the model is. A
    /// model that refuses zeros is as good as any; it counts as slow until it is asked.
    void warm_up();
    /// Whether a question of few bytes would run on the thread that asks.
    bool is_quick() const noexcept;

  private:
    struct waiting_question {
        tensor_question question;
        answer_handler answer;
    };
    result<std::vector<schemas::tensor>> run_timed(const tensor_question&);
    void enqueue(tensor_question, answer_handler);
    bool put_behind_others(tensor_question&, answer_handler&, bool& needs_thread);
    void run_waiting();

    const std::unique_ptr<onnx_session> x_session;
    const std::shared_ptr<run_threads> x_threads;
    const std::size_t x_threads_max;
    bool x_may_be_quick = false;  // by its operators
    std::uint64_t x_memory_bytes = 0;
    std::atomic<std::int64_t> x_run_ns;  // moving average
    runtime::mutex x_mutex;
    std::deque<waiting_question> x_waiting GUARDED_BY(x_mutex);
    std::size_t x_running GUARDED_BY(x_mutex) = 0;  // threads that take from x_waiting
};

}  // namespace herald::api::serving::engines::onnx
