#include "api/serving/engines/onnx/runtime_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <initializer_list>
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
        for (const auto& place : {folder / library_name, folder.parent_path() / "lib/herald" / library_name,
                                  folder.parent_path() / "onnxruntime" / library_name})
            if (std::filesystem::exists(place, failed)) out.push_back(place);
    }
    out.emplace_back(library_name);  // wherever the system looks
    return out;
}

error no_runtime(const std::string& why) {
    return runtime::unavailable({"no ONNX Runtime, so no ONNX models: ", why,
                                 "; deploy/onnxruntime brings it, --onnxruntime says where it is"});
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

/// Where the name of the function ends that stands after a place in the runtime's source: as compilers write
/// it, "void a::b(c) const [with T = d] ", or bare, "b ".
std::size_t end_of_function(std::string_view text, std::size_t begin) {
    std::size_t at = text.find('(', begin);
    if (at == std::string_view::npos || text.substr(begin, at - begin).find("::") == std::string_view::npos)
        return std::min(text.find(' ', begin), text.size() - 1) + 1;
    for (int depth = 0; at < text.size(); ++at) {
        if (text[at] == '(') ++depth;
        if (text[at] == ')' && --depth == 0) break;
    }
    at = std::min(at + 1, text.size());
    if (text.substr(at).starts_with(" const")) at += std::string_view(" const").size();
    if (text.substr(at).starts_with(" [")) at = std::min(text.find(']', at), text.size() - 1) + 1;
    return text.substr(at).starts_with(' ') ? at + 1 : at;
}

/// Without "/src/core/a.cc:12 void a::b(c) ": it says nothing to those who made the model.
std::string without_sources(std::string text) {
    for (const std::string_view mark : {".cc:", ".h:", ".cpp:"}) {
        for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
            const std::size_t number = at + mark.size();
            const std::size_t end = text.find_first_not_of("0123456789", number);
            if (end == number || end == std::string::npos || text[end] != ' ') {
                at = number;
                continue;
            }
            const std::size_t before = text.find_last_of(" :", at);
            const std::size_t begin = before == std::string::npos ? 0 : before + 1;
            text.erase(begin, end_of_function(text, end + 1) - begin);
            at = begin;
        }
    }
    return text;
}

/// Texts may repeat bytes of the model: what is not UTF-8 is shown as U+FFFD, and controls as spaces.
std::string shown(std::string_view text) {
    const std::string own = without_sources(std::string(text.substr(0, limits::onnx_text_bytes_max)));
    std::string out = runtime::shortened(own, limits::onnx_reason_bytes_max + 4);
    std::ranges::replace_if(
        out, [](char each) { return static_cast<unsigned char>(each) < ' '; }, ' ');
    if (out.size() <= limits::onnx_reason_bytes_max) return out;
    return runtime::shortened(out, limits::onnx_reason_bytes_max) + " …";
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> signs) {
    return std::ranges::any_of(
        signs, [text](std::string_view sign) { return text.find(sign) != std::string_view::npos; });
}

// The runtime has no codes for these.
bool is_lack_of_memory(std::string_view text) { return has_any(text, {"bad_alloc", "ailed to allocate"}); }
bool is_own_shortage(std::string_view text) {
    return is_lack_of_memory(text) ||
           has_any(text, {"annot allocate memory", "system error number", "Too many open files"});
}

}  // namespace

result<void> runtime_library::checked(OrtStatus* status) const {
    if (!status) return {};
    const owned<OrtStatus> kept(status, release{x_api});
    const std::string_view said = x_api->GetErrorMessage(status);
    std::string text = shown(said);
    if (is_own_shortage(said)) return runtime::unavailable({"ONNX Runtime: ", text, "; try again"});
    switch (x_api->GetErrorCode(status)) {
        case ORT_NO_SUCHFILE:
        case ORT_ENGINE_ERROR:
        case ORT_EP_FAIL:
            return runtime::unavailable({"ONNX Runtime: ", text, "; try again"});
        case ORT_MODEL_LOADED:
            return runtime::internal({"ONNX Runtime: ", text});
        default:
            return runtime::invalid_argument(std::move(text));
    }
}

result<void> runtime_library::checked_run(OrtStatus* status) const {
    const std::string_view said = status ? x_api->GetErrorMessage(status) : "";
    if (!is_lack_of_memory(said)) return checked(status);
    const owned<OrtStatus> kept(status, release{x_api});
    return runtime::invalid_argument(
        {"the model asks for more memory with these inputs than this node can give; "
         "ONNX Runtime: ",
         shown(said)});
}

}  // namespace herald::api::serving::engines::onnx
