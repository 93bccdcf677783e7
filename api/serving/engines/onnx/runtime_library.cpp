#include "api/serving/engines/onnx/runtime_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "api/serving/engines/onnx/limits.hpp"
#include "runtime/text.hpp"

namespace herald::api::serving::engines::onnx {
namespace {

constexpr const char* library_name = "libonnxruntime.so.1";

std::vector<std::filesystem::path> places_of_library(const std::filesystem::path& chosen) {
    if (!chosen.empty()) return {chosen};
    std::vector<std::filesystem::path> out;
    std::error_code failed;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
    if (!failed) {
        const auto folder = program.parent_path();
        for (const auto& place : {folder / library_name, folder.parent_path() / "onnxruntime" / library_name})
            if (std::filesystem::exists(place, failed)) out.push_back(place);
    }
    out.emplace_back(library_name);  // wherever the system looks
    return out;
}

error no_runtime(const std::string& why) {
    return runtime::unavailable("no ONNX Runtime, so no ONNX models: " + why +
                                "; deploy/onnxruntime brings it, --onnxruntime says where it is");
}

}  // namespace

result<std::shared_ptr<const runtime_library>> runtime_library::open(const std::filesystem::path& chosen) {
    std::string why;
    void* opened = nullptr;
    for (const auto& place : places_of_library(chosen)) {
        // Its own dependencies are looked for here and now, not in the middle of a prediction.
        opened = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (opened) break;
        if (why.empty()) why = ::dlerror();
    }
    if (!opened) return no_runtime(why);
    // dlsym gives every function as void*.
    const auto base = reinterpret_cast<const OrtApiBase* (*)()>(::dlsym(opened, "OrtGetApiBase"));
    if (!base) return no_runtime("the library has no OrtGetApiBase");
    const std::string version = base()->GetVersionString();
    const OrtApi* api = base()->GetApi(ORT_API_VERSION);
    if (!api)
        return no_runtime("version " + version + " is too old: Herald needs version 1." +
                          std::to_string(ORT_API_VERSION) + " or newer");

    std::shared_ptr<runtime_library> out(new runtime_library(api, version));
    auto environment = out->make<OrtEnv>(
        [&](OrtEnv** made) { return api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "herald", made); });
    if (!environment) return no_runtime(environment.error().message);
    out->x_environment = *std::move(environment);
    auto memory = out->make<OrtMemoryInfo>([&](OrtMemoryInfo** made) {
        return api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, made);
    });
    if (!memory) return no_runtime(memory.error().message);
    out->x_memory = *std::move(memory);
    const auto found = out->checked(api->GetAllocatorWithDefaultOptions(&out->x_allocator));
    if (!found) return no_runtime(found.error().message);
    return std::shared_ptr<const runtime_library>(std::move(out));
}

namespace {

/// Texts may repeat bytes of the model: what is no UTF-8 is shown as U+FFFD, and controls as spaces.
std::string shown(std::string_view text) {
    std::string out = runtime::shortened(text, limits::onnx_reason_bytes_max + 4);
    std::ranges::replace_if(
        out, [](char each) { return static_cast<unsigned char>(each) < ' '; }, ' ');
    if (out.size() <= limits::onnx_reason_bytes_max) return out;
    return runtime::shortened(out, limits::onnx_reason_bytes_max) + " …";
}

/// The runtime has no codes for these.
bool is_own_shortage(std::string_view text) {
    constexpr std::array<std::string_view, 5> signs{"bad_alloc", "ailed to allocate", "annot allocate memory",
                                                    "system error number", "Too many open files"};
    return std::ranges::any_of(
        signs, [text](std::string_view sign) { return text.find(sign) != std::string_view::npos; });
}

}  // namespace

result<void> runtime_library::checked(OrtStatus* status) const {
    if (!status) return {};
    const owned<OrtStatus> kept(status, release{x_api});
    const std::string_view said = x_api->GetErrorMessage(status);
    std::string text = shown(said);
    if (is_own_shortage(said)) return runtime::unavailable("ONNX Runtime: " + text + "; try again");
    switch (x_api->GetErrorCode(status)) {
        case ORT_NO_SUCHFILE:
        case ORT_ENGINE_ERROR:
        case ORT_EP_FAIL:
            return runtime::unavailable("ONNX Runtime: " + text + "; try again");
        case ORT_MODEL_LOADED:
            return runtime::internal("ONNX Runtime: " + text);
        default:
            return runtime::invalid_argument(std::move(text));
    }
}

}  // namespace herald::api::serving::engines::onnx
