// A model in ONNX Runtime: what it takes and gives, and one run of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "api/serving/engines/engine.hpp"
#include "api/serving/engines/onnx/response_budget.hpp"
#include "api/serving/engines/onnx/run_watch.hpp"
#include "api/serving/engines/onnx/runtime_library.hpp"
#include "runtime/mutex.hpp"

namespace herald::api::serving::engines::onnx {

/// Thread-safe. Runs use one thread, the caller's. The same values give the same bytes.
class onnx_session {
  public:
    /// Errors: invalid_argument when it is no model, or one that takes or gives anything but tensors of the
    /// types of schemas::tensor_type; for people.
    static result<std::unique_ptr<onnx_session>> open(std::shared_ptr<const runtime_library>,
                                                      std::shared_ptr<run_watch>,
                                                      std::shared_ptr<response_budget>,
                                                      const std::filesystem::path&);
    ~onnx_session();
    onnx_session(const onnx_session&) = delete;
    onnx_session& operator=(const onnx_session&) = delete;

    const schemas::model_signature& signature() const noexcept { return x_signature; }
    /// Blocks. Errors: as tensor_model::infer.
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

    onnx_session(std::shared_ptr<const runtime_library> library, std::shared_ptr<run_watch> watch,
                 std::shared_ptr<response_budget> responses)
        : x_library(std::move(library)), x_watch(std::move(watch)), x_responses(std::move(responses)) {}
    result<void> load(const std::filesystem::path&);
    result<void> read_signature();
    result<schemas::tensor_spec> spec_at(std::size_t place, bool is_input) const;
    result<void> check(const tensor_request&) const;
    bool has_small_fixed_shapes() const;
    bool has_a_name_for_each() const;
    result<std::unique_ptr<prepared_run>> prepare() const;
    result<std::unique_ptr<prepared_run>> take_prepared();
    void give_back(std::unique_ptr<prepared_run>);
    result<tensor_response> run_kept(const tensor_request&, prepared_run&);
    result<tensor_response> run_fresh(const tensor_request&, prepared_run&);
    result<void> run_watched(const tensor_request&, prepared_run&, const std::vector<const char*>& outputs);
    result<owned<OrtValue>> value_of(const schemas::tensor&) const;
    result<tensor_response> copied(const std::vector<owned<OrtValue>>&,
                                   const std::vector<const char*>& names) const;
    result<schemas::tensor> head_of(const OrtValue*, const std::string& name) const;
    result<std::size_t> bytes_of(const OrtValue*, const schemas::tensor& head) const;
    result<void> read_elements(const OrtValue*, schemas::tensor& into) const;
    result<void> read_texts(const OrtValue*, schemas::tensor& into) const;

    const std::shared_ptr<const runtime_library> x_library;
    const std::shared_ptr<run_watch> x_watch;
    const std::shared_ptr<response_budget> x_responses;
    schemas::model_signature x_signature;
    std::vector<const char*> x_input_names;   // of the signature
    std::vector<const char*> x_output_names;  // of the signature
    bool x_keeps_tensors = false;
    runtime::mutex x_mutex;
    std::vector<std::unique_ptr<prepared_run>> x_prepared GUARDED_BY(x_mutex);
    owned<OrtSession> x_session;
};

}  // namespace herald::api::serving::engines::onnx
