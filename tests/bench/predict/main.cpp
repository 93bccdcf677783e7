// What a run of the tiny model (two INT32[1,16], sum and difference) costs on this thread: ONNX Runtime alone
// with tensors made once, and the engine with a response made each time.
//
// usage: predict_bench [ROUNDS]
#include <onnxruntime/onnxruntime_c_api.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "api/serving/engines/onnx/onnx_engine.hpp"
#include "api/serving/engines/onnx/runtime_library.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/onnx_models.hpp"

namespace {

namespace engines = herald::api::serving::engines;
using herald::schemas::tensor;
using herald::schemas::tensor_type;

template <class T>
T checked(herald::result<T> value) {
    if (value) return *std::move(value);
    std::fprintf(stderr, "predict_bench: %s\n", value.error().message.c_str());
    std::exit(1);
}

template <class Work>
double us_each(int rounds, Work&& work) {
    for (int at = 0; at < rounds / 10; ++at) work();
    const auto begin = std::chrono::steady_clock::now();
    for (int at = 0; at < rounds; ++at) work();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() /
           rounds;
}

double bare_run_us(const std::filesystem::path& model, int rounds) {
    const auto library = checked(engines::onnx::runtime_library::open(HERALD_ONNXRUNTIME));
    const OrtApi& api = library->api();
    const auto good = [&](OrtStatus* status) {
        if (const auto done = library->checked(status); !done) {
            std::fprintf(stderr, "predict_bench: %s\n", done.error().message.c_str());
            std::exit(1);
        }
    };
    const auto options = checked(
        library->make<OrtSessionOptions>([&](auto** made) { return api.CreateSessionOptions(made); }));
    good(api.SetIntraOpNumThreads(options.get(), 1));
    const auto session = checked(library->make<OrtSession>([&](auto** made) {
        return api.CreateSession(library->environment(), model.c_str(), options.get(), made);
    }));
    std::array<std::array<std::int32_t, 16>, 4> memory{};
    std::array<OrtValue*, 4> values{};
    const std::array<std::int64_t, 2> shape{1, 16};
    for (std::size_t at = 0; at < 4; ++at)
        good(api.CreateTensorWithDataAsOrtValue(library->memory(), memory[at].data(), sizeof memory[at],
                                                shape.data(), shape.size(),
                                                ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, &values[at]));
    const std::array<const char*, 2> inputs{"x", "y"};
    const std::array<const char*, 2> outputs{"sum", "difference"};
    const double out = us_each(rounds, [&] {
        good(api.Run(session.get(), nullptr, inputs.data(), values.data(), 2, outputs.data(), 2,
                     values.data() + 2));
    });
    for (OrtValue* each : values) api.ReleaseValue(each);
    return out;
}

double engine_us(const std::filesystem::path& model, int rounds) {
    const auto engine = checked(engines::onnx::make_onnx_engine({HERALD_ONNXRUNTIME, {}}));
    engines::model_source source;
    source.file = model;
    std::shared_ptr<engines::tensor_model> loaded;
    engine->load(source, [&](herald::result<engines::loaded_model> found) {
        loaded = checked(std::move(found)).tensors;
    });
    const tensor x{"x", tensor_type::int32, {1, 16}, std::string(64, '\1'), {}};
    const tensor y{"y", tensor_type::int32, {1, 16}, std::string(64, '\2'), {}};
    const engines::tensor_request request{{x, y}, {}, 0, {}};
    return us_each(rounds, [&] {
        const auto response = loaded->infer_now(request);
        if (!response) {
            std::fprintf(stderr, "predict_bench: the model is not quick\n");
            std::exit(1);
        }
        checked(*response);
    });
}

}  // namespace

int main(int count, char** words) {
    const int rounds = count > 1 ? std::atoi(words[1]) : 500'000;
    const herald::test::temporary_folder folder;
    const auto model = folder / "tiny.onnx";
    std::ofstream(model, std::ios::binary) << herald::test::onnx::tiny();
    const double bare = bare_run_us(model, rounds);
    const double through_engine = engine_us(model, rounds);
    std::printf("bare Run %.2f µs, through the engine %.2f µs; each on one thread, %d rounds\n", bare,
                through_engine, rounds);
}
