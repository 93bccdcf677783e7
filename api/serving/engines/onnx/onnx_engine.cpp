#include "api/serving/engines/onnx/onnx_engine.hpp"

#include <string>
#include <utility>

#include "api/serving/engines/onnx/limits.hpp"
#include "api/serving/engines/onnx/onnx_model.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"

namespace herald::api::serving::engines::onnx {
namespace {

class engine_in_process final : public onnx_engine {
  public:
    engine_in_process(const std::shared_ptr<const runtime_library>& library, onnx_options options)
        : x_options(std::move(options)),
          x_parts{library, std::make_shared<run_watch>(library, x_options.late_ms),
                  std::make_shared<response_budget>(limits::onnx_responses_bytes_max),
                  std::make_shared<run_memory>(x_options.run_bytes_max), x_options.models},
          x_threads(std::make_shared<run_threads>(limits::onnx_threads_max)) {}

    std::string_view name() const noexcept override { return schemas::runtimes::onnx; }

    void load(const model_source& source, load_handler loaded) override {
        const auto& cancelled = source.cancelled;
        if (cancelled && cancelled->is_cancelled())
            return loaded(error{error_code::cancelled, "nobody wants it any more", 0});
        auto session = open(source);
        if (!session) return loaded(session.error());
        const auto model = std::make_shared<onnx_model>(*std::move(session), x_threads, source.file);
        if (const auto warm = model->warm_up(cancelled); !warm && warm.error().code != error_code::cancelled)
            runtime::log(runtime::log_level::warning, runtime::log_events::model_refused_zeros,
                         {{"build", std::to_string(source.build.value)}, {"reason", warm.error().message}});
        loaded(loaded_model{model, nullptr, "onnxruntime_onnx"});
    }

    result<schemas::model_signature> inspect(const std::filesystem::path& file) override {
        model_source source;
        source.file = file;
        const auto session = open(source);
        if (!session) return session.error();
        return (*session)->signature();
    }

  private:
    result<std::unique_ptr<onnx_session>> open(const model_source& source) {
        if (x_options.check_file) {
            if (const auto good = x_options.check_file(source.file); !good) return good.error();
        }
        return onnx_session::open(x_parts, source);
    }

    const onnx_options x_options;
    const session_parts x_parts;
    const std::shared_ptr<run_threads> x_threads;
};

}  // namespace

result<std::unique_ptr<onnx_engine>> make_onnx_engine(const onnx_options& options) {
    auto library = runtime_library::open(options.library);
    if (!library) return library.error();
    std::unique_ptr<onnx_engine> out = std::make_unique<engine_in_process>(*library, options);
    return out;
}

}  // namespace herald::api::serving::engines::onnx
