// The engine of builds with an ONNX model: ONNX Runtime in this process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "api/serving/engines/byte_pool.hpp"
#include "api/serving/engines/engine.hpp"
#include "api/serving/engines/onnx/limits.hpp"

namespace herald::api::serving::engines::onnx {

struct onnx_options {
    /// The library. Empty: libonnxruntime.so.1 beside the program, in onnxruntime/ beside the program's
    /// folder, or the system's.
    std::filesystem::path library;
    /// Looks at a model's bytes before ONNX Runtime does; that they need no other file is for this to say.
    std::function<result<void>(const std::filesystem::path&)> check_file;
    std::uint64_t run_bytes_max = limits::onnx_run_bytes_max;  // that a run may allocate while it runs
    /// What models may take of the memory; loads that need much more than their file take of it. Null: no
    /// bound.
    std::shared_ptr<byte_pool> models{};
    /// A run that goes on for so long after it was asked to end is late (run_watch.hpp).
    std::int64_t late_ms = limits::onnx_late_ms_min;
};

/// Models that are known to be quick run on the caller's thread, others on threads of the engine, at most as
/// many for one model as there are processors. At a request's deadline its run is ended. Models keep what
/// they need of the engine; the engine may go before them.
///
/// What a run and a load may allocate is bounded (counted_memory.hpp), and a division by zero refuses the
/// request (run_traps.hpp). What cannot be contained in one process: a model that makes ONNX Runtime crash
/// otherwise; an operator that takes long is ended only when it is done.
class onnx_engine : public engine {
  public:
    /// What the model takes and gives. It is loaded for that, so this may take long. Errors: as load.
    virtual result<schemas::model_signature> inspect(const std::filesystem::path&) = 0;
};

/// Errors: unavailable when there is no library that fits, or Herald was built without the headers: for
/// people, with what would help.
result<std::unique_ptr<onnx_engine>> make_onnx_engine(const onnx_options&);

}  // namespace herald::api::serving::engines::onnx
