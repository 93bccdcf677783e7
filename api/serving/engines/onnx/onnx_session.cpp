#include "api/serving/engines/onnx/onnx_session.hpp"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "api/serving/engines/onnx/declared_shapes.hpp"
#include "api/serving/engines/onnx/limits.hpp"
#include "api/serving/engines/onnx/onnx_types.hpp"
#include "runtime/text.hpp"

namespace herald::api::serving::engines::onnx {
namespace {

using schemas::tensor;
using schemas::tensor_spec;
using schemas::tensor_type;

/// None when there are more than a size can say.
std::optional<std::size_t> element_count(const std::vector<std::int64_t>& shape) {
    std::size_t out = 1;
    for (const auto dim : shape)
        if (dim < 0 || __builtin_mul_overflow(out, static_cast<std::size_t>(dim), &out)) return std::nullopt;
    return out;
}

/// Of a text without its letters.
std::size_t bytes_of_element(tensor_type type) {
    return type == tensor_type::text ? sizeof(std::string) : schemas::bytes_of(type);
}

std::optional<std::size_t> bytes_of_shape(tensor_type type, const std::vector<std::int64_t>& shape) {
    auto count = element_count(shape);
    std::size_t out = 0;
    if (!count || __builtin_mul_overflow(*count, bytes_of_element(type), &out)) return std::nullopt;
    return out;
}

/// Lists that an empty tensor is written as: [1000000,0] has no element, and a million pairs of brackets. Of
/// others there are never more than elements, times the number of dimensions. None when there are more than a
/// size can say.
std::optional<std::size_t> empty_lists(const std::vector<std::int64_t>& shape) {
    std::size_t out = 1;
    for (const auto dim : shape) {
        if (dim == 0) return out;
        if (__builtin_mul_overflow(out, static_cast<std::size_t>(dim), &out)) return std::nullopt;
    }
    return 0;
}

std::string in_quotes(const std::string& name) { return '"' + name + '"'; }

/// The runtime names the file that it was given, which is a copy in a folder of this node's.
std::string without_place(std::string text, const std::filesystem::path& file) {
    const auto replace_all = [&text](const std::string& what, std::string_view by) {
        for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
            text.replace(at, what.size(), by);
    };
    replace_all("Load model from " + file.string() + " failed:", "");
    replace_all(file.string(), "the model's file");
    if (file.has_parent_path()) replace_all(file.parent_path().string() + "/", "");
    return text;
}

error too_large() {
    return runtime::failed_precondition("the answer would be larger than " +
                                        std::to_string(limits::onnx_response_bytes_max) +
                                        " bytes; ask for fewer rows or outputs");
}

}  // namespace

result<std::unique_ptr<onnx_session>> onnx_session::open(std::shared_ptr<const runtime_library> library,
                                                         std::shared_ptr<run_watch> watch,
                                                         std::shared_ptr<response_budget> responses,
                                                         const std::filesystem::path& file) {
    std::unique_ptr<onnx_session> out(
        new onnx_session(std::move(library), std::move(watch), std::move(responses)));
    if (const auto good = out->load(file); !good) return good.error();
    if (const auto good = out->read_signature(); !good) return good.error();
    mark_unknown_ranks(out->x_signature.outputs, file);
    out->x_keeps_tensors = out->has_small_fixed_shapes() && out->has_a_name_for_each();
    return out;
}

onnx_session::~onnx_session() {
    x_session.reset();
    // A model leaves holes of all sizes: what is free goes back, or memory grows with every change of
    // version.
    ::malloc_trim(0);
}

// ---- loading

result<void> onnx_session::load(const std::filesystem::path& file) {
    const OrtApi& api = x_library->api();
    auto options = x_library->make<OrtSessionOptions>(
        [&](OrtSessionOptions** made) { return api.CreateSessionOptions(made); });
    if (!options) return options.error();
    OrtSessionOptions* const set = options->get();
    // No arena and no plan for each shape: both keep the largest memory that was ever used.
    for (OrtStatus* status :
         {api.AddSessionConfigEntry(set, "optimization.constant_folding_max_output_size_in_bytes",
                                    std::to_string(limits::onnx_folded_bytes_max).c_str()),
          api.SetIntraOpNumThreads(set, 1), api.SetInterOpNumThreads(set, 1), api.DisableCpuMemArena(set),
          api.DisableMemPattern(set), api.SetDeterministicCompute(set, true),
          api.AddSessionConfigEntry(set, "session.load_model_format", "ONNX")})
        if (const auto good = x_library->checked(status); !good) return good.error();
    auto session = x_library->make<OrtSession>([&](OrtSession** made) {
        return api.CreateSession(x_library->environment(), file.c_str(), set, made);
    });
    if (!session)
        return error{session.error().code,
                     "ONNX Runtime " + x_library->version() +
                         " cannot load the model: " + without_place(session.error().message, file)};
    x_session = *std::move(session);
    return {};
}

result<void> onnx_session::read_signature() {
    const OrtApi& api = x_library->api();
    std::size_t inputs = 0;
    std::size_t outputs = 0;
    for (OrtStatus* status : {api.SessionGetInputCount(x_session.get(), &inputs),
                              api.SessionGetOutputCount(x_session.get(), &outputs)})
        if (const auto good = x_library->checked(status); !good) return good.error();
    std::size_t bytes = 0;
    for (std::size_t place = 0; place < inputs + outputs; ++place) {
        const bool is_input = place < inputs;
        auto spec = spec_at(is_input ? place : place - inputs, is_input);
        if (!spec) return spec.error();
        bytes += spec->name.size() + sizeof(std::int64_t) * (1 + spec->shape.size());
        if (bytes > limits::onnx_signature_bytes_max)
            return runtime::invalid_argument("the names and shapes of the model's " + std::to_string(inputs) +
                                             " inputs and " + std::to_string(outputs) +
                                             " outputs take more than " +
                                             std::to_string(limits::onnx_signature_bytes_max) + " bytes");
        (is_input ? x_signature.inputs : x_signature.outputs).push_back(*std::move(spec));
    }
    if (x_signature.outputs.empty()) return runtime::invalid_argument("the model has no outputs");
    for (const auto& each : x_signature.inputs) x_input_names.push_back(each.name.c_str());
    for (const auto& each : x_signature.outputs) x_output_names.push_back(each.name.c_str());
    return {};
}

result<tensor_spec> onnx_session::spec_at(std::size_t place, bool is_input) const {
    const OrtApi& api = x_library->api();
    tensor_spec out;
    char* name = nullptr;
    OrtAllocator* const allocator = x_library->allocator();
    if (const auto good =
            x_library->checked(is_input ? api.SessionGetInputName(x_session.get(), place, allocator, &name)
                                        : api.SessionGetOutputName(x_session.get(), place, allocator, &name));
        !good)
        return good.error();
    out.name = name;
    if (const auto good = x_library->checked(api.AllocatorFree(allocator, name)); !good) return good.error();
    const std::string which = (is_input ? "input " : "output ") + in_quotes(out.name);
    if (!runtime::is_valid_utf8(out.name))
        return runtime::invalid_argument("the name of an input or output is not UTF-8");

    auto type = x_library->make<OrtTypeInfo>([&](OrtTypeInfo** made) {
        return is_input ? api.SessionGetInputTypeInfo(x_session.get(), place, made)
                        : api.SessionGetOutputTypeInfo(x_session.get(), place, made);
    });
    if (!type) return type.error();
    const OrtTensorTypeAndShapeInfo* tensor_info = nullptr;  // of the type
    if (const auto good = x_library->checked(api.CastTypeInfoToTensorInfo(type->get(), &tensor_info)); !good)
        return good.error();
    if (!tensor_info)
        return runtime::invalid_argument("the model's " + which +
                                         " is a sequence, a map or an optional, not a tensor; Herald serves "
                                         "tensors only (exporters can avoid the others, e.g. with "
                                         "zipmap=False)");
    ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    std::size_t dims = 0;
    for (OrtStatus* status :
         {api.GetTensorElementType(tensor_info, &element), api.GetDimensionsCount(tensor_info, &dims)})
        if (const auto good = x_library->checked(status); !good) return good.error();
    const auto ours = our_type(element);
    if (!ours)
        return runtime::invalid_argument("the model's " + which + " has elements of ONNX's type " +
                                         std::to_string(element) +
                                         "; Herald serves BOOL, integers, FP16, BF16, FP32, FP64 and BYTES");
    out.type = *ours;
    out.shape.resize(dims);
    if (const auto good = x_library->checked(api.GetDimensions(tensor_info, out.shape.data(), dims)); !good)
        return good.error();
    for (auto& dim : out.shape) dim = std::max<std::int64_t>(dim, -1);
    return out;
}

bool onnx_session::has_small_fixed_shapes() const {
    std::size_t sum = 0;
    for (const auto* specs : {&x_signature.inputs, &x_signature.outputs})
        for (const auto& each : *specs) {
            const auto bytes = bytes_of_shape(each.type, each.shape);
            if (each.type == tensor_type::text || !bytes || *bytes == 0) return false;
            sum += std::min(*bytes, limits::onnx_kept_run_bytes_max + 1);
            if (sum > limits::onnx_kept_run_bytes_max) return false;
        }
    return true;
}

/// The runtime has one place for each name, and does not write into what was given for an output that is
/// also an input, or there twice. Others are written, constants too.
bool onnx_session::has_a_name_for_each() const {
    std::set<std::string_view> names(x_input_names.begin(), x_input_names.end());
    names.insert(x_output_names.begin(), x_output_names.end());
    return names.size() == x_input_names.size() + x_output_names.size();
}

// ---- running

result<tensor_response> onnx_session::run(const tensor_request& request) {
    if (const auto good = check(request); !good) return good.error();
    auto with = take_prepared();
    if (!with) return with.error();
    const bool is_kept = !(*with)->inputs.empty() && request.outputs.empty();
    auto out = is_kept ? run_kept(request, **with) : run_fresh(request, **with);
    give_back(*std::move(with));
    return out;
}

/// What follows reads and writes memory by these sizes.
result<void> onnx_session::check(const tensor_request& request) const {
    if (request.inputs.size() != x_signature.inputs.size())
        return runtime::invalid_argument("the model has " + std::to_string(x_signature.inputs.size()) +
                                         " inputs, not " + std::to_string(request.inputs.size()));
    for (std::size_t place = 0; place < request.inputs.size(); ++place) {
        const tensor& given = request.inputs[place];
        const tensor_spec& wanted = x_signature.inputs[place];
        const bool is_text = given.type == tensor_type::text;
        const auto size = is_text ? element_count(given.shape) : bytes_of_shape(given.type, given.shape);
        if (given.type != wanted.type || !size || *size != (is_text ? given.texts.size() : given.data.size()))
            return runtime::invalid_argument("input " + in_quotes(wanted.name) +
                                             " has another type than the model declares, or a number of "
                                             "elements that does not match its shape");
        if (given.type == tensor_type::boolean &&
            std::ranges::any_of(given.data, [](char each) { return each != 0 && each != 1; }))
            return runtime::invalid_argument("input " + in_quotes(wanted.name) +
                                             " is BOOL, but has an element that is neither 0 nor 1");
    }
    for (const auto place : request.outputs)
        if (place >= x_signature.outputs.size())
            return runtime::invalid_argument("the model has no output " + std::to_string(place));
    return {};
}

result<std::unique_ptr<onnx_session::prepared_run>> onnx_session::take_prepared() {
    {
        const runtime::lock_guard lock(x_mutex);
        if (!x_prepared.empty()) {
            auto out = std::move(x_prepared.back());
            x_prepared.pop_back();
            return out;
        }
    }
    return prepare();
}

void onnx_session::give_back(std::unique_ptr<prepared_run> used) {
    const runtime::lock_guard lock(x_mutex);
    if (x_prepared.size() < limits::onnx_kept_runs_max) x_prepared.push_back(std::move(used));
}

result<std::unique_ptr<onnx_session::prepared_run>> onnx_session::prepare() const {
    const OrtApi& api = x_library->api();
    auto out = std::make_unique<prepared_run>();
    auto options =
        x_library->make<OrtRunOptions>([&](OrtRunOptions** made) { return api.CreateRunOptions(made); });
    if (!options) return options.error();
    out->options = *std::move(options);
    if (!x_keeps_tensors) return out;
    for (const bool is_input : {true, false})
        for (const auto& spec : is_input ? x_signature.inputs : x_signature.outputs) {
            out->memory.emplace_back(*bytes_of_shape(spec.type, spec.shape), '\0');
            // On the heap, or it would move with the strings around it.
            if (out->memory.back().capacity() <= std::string().capacity()) out->memory.back().reserve(64);
            std::string& memory = out->memory.back();
            auto value = x_library->make<OrtValue>([&](OrtValue** made) {
                return api.CreateTensorWithDataAsOrtValue(x_library->memory(), memory.data(), memory.size(),
                                                          spec.shape.data(), spec.shape.size(),
                                                          their_type(spec.type), made);
            });
            if (!value) return value.error();
            (is_input ? out->inputs : out->outputs).push_back(*std::move(value));
        }
    return out;
}

result<tensor_response> onnx_session::run_kept(const tensor_request& request, prepared_run& with) {
    const std::size_t inputs = with.inputs.size();
    for (std::size_t place = 0; place < inputs; ++place)
        // Another shape than the declared one: the runtime knows how to say so.
        if (request.inputs[place].shape != x_signature.inputs[place].shape) return run_fresh(request, with);
    with.input_places.clear();
    for (std::size_t place = 0; place < inputs; ++place) {
        std::memcpy(with.memory[place].data(), request.inputs[place].data.data(), with.memory[place].size());
        with.input_places.push_back(with.inputs[place].get());
    }
    with.output_places.clear();
    for (const auto& each : with.outputs) with.output_places.push_back(each.get());
    if (const auto good = run_watched(request, with, x_output_names); !good) {
        // It may be that the model does not give what it declares.
        if (good.error().code != error_code::invalid_argument) return good.error();
        return run_fresh(request, with);
    }
    std::vector<tensor> out(with.outputs.size());
    for (std::size_t place = 0; place < out.size(); ++place) {
        const tensor_spec& spec = x_signature.outputs[place];
        out[place].name = spec.name;
        out[place].type = spec.type;
        out[place].shape = spec.shape;
        out[place].data = with.memory[inputs + place];
    }
    return out;
}

result<tensor_response> onnx_session::run_fresh(const tensor_request& request, prepared_run& with) {
    std::vector<owned<OrtValue>> inputs;
    with.input_places.clear();
    for (const auto& each : request.inputs) {
        auto value = value_of(each);
        if (!value) return value.error();
        with.input_places.push_back(value->get());
        inputs.push_back(*std::move(value));
    }
    std::vector<const char*> names;
    for (const auto place : request.outputs) names.push_back(x_output_names[place]);
    if (names.empty()) names = x_output_names;
    with.output_places.assign(names.size(), nullptr);
    const auto ran = run_watched(request, with, names);
    std::vector<owned<OrtValue>> outputs;
    for (OrtValue* each : with.output_places) outputs.emplace_back(each, release{&x_library->api()});
    if (!ran) return ran.error();
    return copied(outputs, names);
}

result<void> onnx_session::run_watched(const tensor_request& request, prepared_run& with,
                                       const std::vector<const char*>& outputs) {
    OrtRunOptions* const options = with.options.get();
    if (request.deadline_ms != 0 && request.deadline_ms <= runtime::system_clock().steady_ms())
        return error{error_code::deadline_exceeded, "the deadline passed before the model ran"};
    x_watch->begin(options, request.deadline_ms);
    if (request.cancelled) {
        const auto end = [this, options, &request] { x_watch->end_early(options, request.deadline_ms); };
        if (!request.cancelled->work_begins(end)) end();
    }
    OrtStatus* const status = x_library->api().Run(x_session.get(), options, x_input_names.data(),
                                                   with.input_places.data(), with.input_places.size(),
                                                   outputs.data(), outputs.size(), with.output_places.data());
    if (request.cancelled) request.cancelled->work_has_ended();
    const bool was_ended = x_watch->end(options, request.deadline_ms);
    auto out = x_library->checked_run(status);
    if (!out && was_ended)
        return error{error_code::deadline_exceeded,
                     "the model did not finish before the prediction's deadline"};
    return out;
}

// ---- tensors

result<owned<OrtValue>> onnx_session::value_of(const tensor& from) const {
    const OrtApi& api = x_library->api();
    const auto make = [&](OrtValue** made) {
        if (from.type == tensor_type::text)
            return api.CreateTensorAsOrtValue(x_library->allocator(), from.shape.data(), from.shape.size(),
                                              their_type(from.type), made);
        // The runtime only reads it; it has one type for memory in and out.
        return api.CreateTensorWithDataAsOrtValue(x_library->memory(), const_cast<char*>(from.data.data()),
                                                  from.data.size(), from.shape.data(), from.shape.size(),
                                                  their_type(from.type), made);
    };
    auto out = x_library->make<OrtValue>(make);
    if (!out) return out;
    for (std::size_t place = 0; place < from.texts.size(); ++place) {
        const std::string& text = from.texts[place];
        char* memory = nullptr;
        if (text.empty()) continue;
        if (const auto good = x_library->checked(
                api.GetResizedStringTensorElementBuffer(out->get(), place, text.size(), &memory));
            !good)
            return good.error();
        std::memcpy(memory, text.data(), text.size());
    }
    return out;
}

/// What they take is counted before any of it is copied.
result<tensor_response> onnx_session::copied(const std::vector<owned<OrtValue>>& from,
                                             const std::vector<const char*>& names) const {
    std::vector<tensor> out;
    std::size_t bytes = 0;
    for (std::size_t place = 0; place < names.size(); ++place) {
        auto head = head_of(from[place].get(), names[place]);
        if (!head) return head.error();
        const auto more = bytes_of(from[place].get(), *head);
        if (!more) return more.error();
        bytes += std::min(*more, limits::onnx_response_bytes_max + 1);
        if (bytes > limits::onnx_response_bytes_max) return too_large();
        out.push_back(*std::move(head));
    }
    if (bytes > limits::onnx_small_response_bytes_max) {
        auto share = x_responses->take(bytes);
        if (!share) return share.error();
        for (tensor& each : out) each.memory.held = *share;
    }
    for (std::size_t place = 0; place < names.size(); ++place)
        if (const auto good = read_elements(from[place].get(), out[place]); !good) return good.error();
    return out;
}

result<tensor> onnx_session::head_of(const OrtValue* from, const std::string& name) const {
    const OrtApi& api = x_library->api();
    int is_tensor = 0;
    if (from) {
        if (const auto good = x_library->checked(api.IsTensor(from, &is_tensor)); !good) return good.error();
    }
    if (is_tensor == 0)
        return runtime::invalid_argument("the model gave no tensor for output " + in_quotes(name));
    auto info = x_library->make<OrtTensorTypeAndShapeInfo>(
        [&](OrtTensorTypeAndShapeInfo** made) { return api.GetTensorTypeAndShape(from, made); });
    if (!info) return info.error();
    ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    std::size_t dims = 0;
    for (OrtStatus* status :
         {api.GetTensorElementType(info->get(), &element), api.GetDimensionsCount(info->get(), &dims)})
        if (const auto good = x_library->checked(status); !good) return good.error();
    tensor out;
    out.name = name;
    const auto type = our_type(element);
    if (!type) return runtime::internal("output " + in_quotes(name) + " has a type that was not declared");
    out.type = *type;
    out.shape.resize(dims);
    if (const auto good = x_library->checked(api.GetDimensions(info->get(), out.shape.data(), dims)); !good)
        return good.error();
    return out;
}

/// Errors: invalid_argument when it is not to be returned, whatever it takes.
result<std::size_t> onnx_session::bytes_of(const OrtValue* from, const tensor& head) const {
    const auto lists = empty_lists(head.shape);
    if (!lists || *lists > limits::onnx_empty_lists_max)
        return runtime::invalid_argument(
            "the model's output " + in_quotes(head.name) + " has no element, but is more than " +
            std::to_string(limits::onnx_empty_lists_max) + " empty lists; so many cannot be returned");
    const auto bytes = bytes_of_shape(head.type, head.shape);
    if (!bytes) return too_large();
    if (head.type != tensor_type::text || *bytes == 0) return *bytes;
    std::size_t letters = 0;
    if (const auto good = x_library->checked(x_library->api().GetStringTensorDataLength(from, &letters));
        !good)
        return good.error();
    std::size_t out = 0;
    if (__builtin_add_overflow(*bytes, letters, &out)) return too_large();
    return out;
}

result<void> onnx_session::read_elements(const OrtValue* from, tensor& into) const {
    const std::size_t bytes = *bytes_of_shape(into.type, into.shape);
    if (bytes == 0) return {};
    if (into.type == tensor_type::text) return read_texts(from, into);
    void* memory = nullptr;
    // Read only; the runtime has no other way.
    if (const auto good =
            x_library->checked(x_library->api().GetTensorMutableData(const_cast<OrtValue*>(from), &memory));
        !good)
        return good.error();
    into.data.assign(static_cast<const char*>(memory), bytes);
    return {};
}

result<void> onnx_session::read_texts(const OrtValue* from, tensor& into) const {
    const OrtApi& api = x_library->api();
    const std::size_t count = *element_count(into.shape);
    std::size_t bytes = 0;
    if (const auto good = x_library->checked(api.GetStringTensorDataLength(from, &bytes)); !good)
        return good.error();
    std::string all(bytes, '\0');
    std::vector<std::size_t> begins(count);
    if (const auto good = x_library->checked(
            api.GetStringTensorContent(from, all.data(), all.size(), begins.data(), begins.size()));
        !good)
        return good.error();
    begins.push_back(bytes);
    into.texts.reserve(count);
    for (std::size_t place = 0; place < count; ++place)
        into.texts.push_back(all.substr(begins[place], begins[place + 1] - begins[place]));
    return {};
}

}  // namespace herald::api::serving::engines::onnx
