// ONNX models, for tests: the engine, a model from its bytes, an inference that is waited for.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/serving/engines/onnx/onnx_engine.hpp"
#include "runtime/clock.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/onnx_models.hpp"

namespace herald::test::onnx {

namespace engines = api::serving::engines;
using response = result<std::vector<schemas::tensor>>;

/// Null when there is no runtime here; the test is then skipped by HERALD_NEEDS_ONNX.
inline std::shared_ptr<engines::onnx::onnx_engine> engine_or_null() {
    static std::string why;
    static const std::shared_ptr<engines::onnx::onnx_engine> made = [] {
        auto engine = engines::onnx::make_onnx_engine({HERALD_ONNXRUNTIME, {}});
        if (!engine) {
            why = engine.error().message;
            return std::shared_ptr<engines::onnx::onnx_engine>();
        }
        return std::shared_ptr<engines::onnx::onnx_engine>(*std::move(engine));
    }();
    return made;
}

#define HERALD_NEEDS_ONNX()                     \
    if (!herald::test::onnx::engine_or_null())  \
    GTEST_SKIP() << "there is no ONNX Runtime " \
                    "(deploy/onnxruntime)"

inline void write_model(const std::filesystem::path& file, const std::string& bytes) {
    std::ofstream out(file, std::ios::binary);
    out << bytes;
    out.close();
    ASSERT_TRUE(out.good());
}

inline result<engines::loaded_model> load_with(engines::engine& with, const std::string& bytes,
                                               const schemas::batching_settings& batching = {}) {
    const temporary_folder place;
    engines::model_source source;
    source.file = place.path() / "model";
    source.batching = batching;
    write_model(source.file, bytes);
    std::promise<result<engines::loaded_model>> loaded;
    with.load(source, [&loaded](result<engines::loaded_model> model) { loaded.set_value(std::move(model)); });
    return loaded.get_future().get();
}

/// What cannot be loaded fails the test.
inline std::shared_ptr<engines::tensor_model> load(const std::string& bytes) {
    auto model = load_with(*engine_or_null(), bytes);
    if (!model) {
        ADD_FAILURE() << model.error().message;
        return nullptr;
    }
    return model->tensors;
}

inline std::int64_t in_ms(std::int64_t ms) { return runtime::system_clock().steady_ms() + ms; }

inline std::future<response> begin_inference(engines::tensor_model& model,
                                             std::vector<schemas::tensor> inputs,
                                             std::int64_t deadline_ms = 0) {
    const auto promise = std::make_shared<std::promise<response>>();
    model.infer({std::move(inputs), {}, deadline_ms, {}},
                [promise](response given) { promise->set_value(std::move(given)); });
    return promise->get_future();
}

inline response infer(engines::tensor_model& model, std::vector<schemas::tensor> inputs,
                      std::int64_t deadline_ms = 0) {
    return begin_inference(model, std::move(inputs), deadline_ms).get();
}

template <class T>
schemas::tensor values(std::string name, schemas::tensor_type type, std::vector<std::int64_t> dims,
                       const std::vector<T>& of) {
    schemas::tensor out{std::move(name), type, std::move(dims), {}, {}};
    for (const T each : of) out.data += bytes_of({each});
    return out;
}

}  // namespace herald::test::onnx
