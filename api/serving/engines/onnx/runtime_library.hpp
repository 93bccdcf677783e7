// ONNX Runtime's library, found and opened when the program runs, and what of it is owned here.
#pragma once

#include <onnxruntime/onnxruntime_c_api.h>

#include <filesystem>
#include <memory>
#include <string>

#include "runtime/error.hpp"

namespace herald::api::serving::engines::onnx {

/// Gives back what the runtime made.
struct release {
    const OrtApi* api = nullptr;
    void operator()(OrtEnv* of) const noexcept { api->ReleaseEnv(of); }
    void operator()(OrtSession* of) const noexcept { api->ReleaseSession(of); }
    void operator()(OrtSessionOptions* of) const noexcept { api->ReleaseSessionOptions(of); }
    void operator()(OrtRunOptions* of) const noexcept { api->ReleaseRunOptions(of); }
    void operator()(OrtValue* of) const noexcept { api->ReleaseValue(of); }
    void operator()(OrtTypeInfo* of) const noexcept { api->ReleaseTypeInfo(of); }
    void operator()(OrtTensorTypeAndShapeInfo* of) const noexcept { api->ReleaseTensorTypeAndShapeInfo(of); }
    void operator()(OrtMemoryInfo* of) const noexcept { api->ReleaseMemoryInfo(of); }
    void operator()(OrtStatus* of) const noexcept { api->ReleaseStatus(of); }
};
template <class T>
using owned = std::unique_ptr<T, release>;

/// Thread-safe. Held by whatever uses it. The library itself stays open until the process ends.
class runtime_library {
  public:
    /// Errors: unavailable, for people: what was looked for, and what would help.
    static result<std::shared_ptr<const runtime_library>> open(const std::filesystem::path& chosen);

    const OrtApi& api() const noexcept { return *x_api; }
    const OrtEnv* environment() const noexcept { return x_environment.get(); }
    const OrtMemoryInfo* memory() const noexcept { return x_memory.get(); }
    OrtAllocator* allocator() const noexcept { return x_allocator; }
    const std::string& version() const noexcept { return x_version; }

    /// What the runtime returned, as a result: invalid_argument with its text, in UTF-8 and without controls;
    /// unavailable when memory, a file or the machine failed it; internal when Herald did.
    result<void> checked(OrtStatus*) const;
    /// The same of a run. What it allocates follows from the request, so that a lack of memory is an
    /// invalid_argument, too: the same request meets it again.
    result<void> checked_run(OrtStatus*) const;
    /// To be handed to the runtime for something new: `made(api.CreateX, …)` returns it owned.
    template <class T, class Make>
    result<owned<T>> make(Make&& with) const {
        T* made = nullptr;
        if (const auto good = checked(with(&made)); !good) return good.error();
        return owned<T>(made, release{x_api});
    }

  private:
    runtime_library(const OrtApi* api, std::string version) : x_api(api), x_version(std::move(version)) {}

    const OrtApi* x_api;
    std::string x_version;
    owned<OrtEnv> x_environment;
    owned<OrtMemoryInfo> x_memory;
    OrtAllocator* x_allocator = nullptr;  // the runtime's
};

}  // namespace herald::api::serving::engines::onnx
