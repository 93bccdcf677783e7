// A model in ONNX Runtime: what it takes and gives, and one run of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "api/serving/engines/engine.hpp"
#include "api/serving/engines/onnx/bounded_run.hpp"
#include "api/serving/engines/onnx/joined_inputs.hpp"
#include "api/serving/engines/onnx/response_budget.hpp"
#include "api/serving/engines/onnx/run_watch.hpp"
#include "api/serving/engines/onnx/runtime_library.hpp"
#include "runtime/mutex.hpp"

namespace herald::api::serving::engines::onnx {

/// What the sessions of an engine share.
struct session_parts {
    std::shared_ptr<const runtime_library> library;
    std::shared_ptr<run_watch> watch;
    std::shared_ptr<response_budget> responses;
    std::shared_ptr<run_memory> memory;
    std::shared_ptr<byte_pool> models;  // onnx_options::models; may be null
};

/// Thread-safe. Runs use one thread, the caller's. The same values give the same bytes.
///
/// A run at which the processor stopped, or that broke off (run_traps.hpp), is refused. After
/// limits::onnx_faults_max of them all are: the model is out of service.
class onnx_session {
  public:
    /// Of the source it uses the file, the build and the mark. Errors: invalid_argument for what is not a
    /// model, or one that takes or gives anything but tensors of the types of schemas::tensor_type, or that
    /// does not fit into the memory; resource_exhausted when others have the memory; for people.
    static result<std::unique_ptr<onnx_session>> open(session_parts, const model_source&);
    ~onnx_session();
    onnx_session(const onnx_session&) = delete;
    onnx_session& operator=(const onnx_session&) = delete;

    const schemas::model_signature& signature() const noexcept { return x_signature; }
    /// As tensor_model::in_service.
    result<void> in_service() const;
    /// The run of this thread broke off (run_traps.hpp), which is logged; the error of its request.
    error broke_off(const lost_run&);
    /// Runs that were asked to end and go on, each on a thread.
    unsigned late_runs_now() const noexcept { return x_late.count(); }
    /// Blocks. Errors: as tensor_model::infer; in_service.
    result<tensor_response> run(const tensor_request&);

  private:
    /// Belongs to one run at a time. Making tensors costs as much as running a small model: those of a model
    /// whose shapes are all fixed are kept with their memory, if it has a name for each of them.
    struct prepared_run {
        owned<OrtRunOptions> options;
        std::vector<std::string> memory;
        std::vector<owned<OrtValue>> inputs;   // all, or none when they are not kept
        std::vector<owned<OrtValue>> outputs;  // as the inputs
        std::vector<const OrtValue*> input_places;
        std::vector<OrtValue*> output_places;
    };

    onnx_session(session_parts, const model_source&);
    result<void> load(const std::filesystem::path&);
    result<void> read_signature();
    result<schemas::tensor_spec> spec_at(std::size_t place, bool is_input) const;
    result<void> check(const tensor_request&) const;
    bool has_small_fixed_shapes() const;
    bool has_a_name_for_each() const;
    result<std::unique_ptr<prepared_run>> prepare() const;
    result<std::unique_ptr<prepared_run>> take_prepared();
    void give_back(std::unique_ptr<prepared_run>);
    bounded_run::what bounds_of(const prepared_run&);
    void count_fault();
    result<tensor_response> run_kept(const tensor_request&, prepared_run&);
    result<tensor_response> run_fresh(const tensor_request&, prepared_run&);
    result<void> run_watched(const tensor_request&, prepared_run&, bounded_run&,
                             const std::vector<const char*>& outputs);

    const session_parts x_with;
    const std::shared_ptr<const runtime_library> x_library;  // of the parts
    const schemas::build_id x_build;
    const std::string x_end_mark;  // of the source
    std::string x_may_divide;      // "operator Div", as operators_of
    std::string x_takes_no_empty;  // those that take no empty inputs; most models have none
    std::string x_operators;       // the first ones, as operators_of
    joined_inputs x_joined;
    late_runs x_late;
    byte_pool x_runs;                // what its runs may take
    std::uint64_t x_kept_bytes = 0;  // of the pool of models
    std::atomic<std::uint32_t> x_faults{0};
    schemas::model_signature x_signature;
    std::vector<const char*> x_input_names;   // of the signature
    std::vector<const char*> x_output_names;  // of the signature
    bool x_keeps_tensors = false;
    runtime::mutex x_mutex;
    std::vector<std::unique_ptr<prepared_run>> x_prepared GUARDED_BY(x_mutex);
    owned<OrtSession> x_session;
};

}  // namespace herald::api::serving::engines::onnx
