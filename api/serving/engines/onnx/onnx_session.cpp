#include "api/serving/engines/onnx/onnx_session.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "api/serving/engines/onnx/counted_memory.hpp"
#include "api/serving/engines/onnx/declared_shapes.hpp"
#include "api/serving/engines/onnx/limits.hpp"
#include "api/serving/engines/onnx/mapped_file.hpp"
#include "api/serving/engines/onnx/model_operators.hpp"
#include "api/serving/engines/onnx/onnx_types.hpp"
#include "api/serving/engines/onnx/onnx_values.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/text.hpp"

namespace herald::api::serving::engines::onnx {
namespace {

using schemas::tensor;
using schemas::tensor_spec;
using schemas::tensor_type;

/// Of this thread, for broke_off().
struct run_under_way {
    OrtRunOptions* options = nullptr;
    std::int64_t deadline_ms = 0;
};
constinit thread_local run_under_way under_way{};

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

/// Most models need as many rows in each input, and few say so: `N` stands in the file for whatever it is.
/// What the runtime says of it speaks of operators that the caller does not know. None when it spoke of
/// something else than shapes.
std::optional<error> different_rows(std::string_view said, const schemas::model_signature& signature,
                                    const tensor_request& request) {
    const auto is_in_it = [said](std::string_view sign) { return said.find(sign) != std::string_view::npos; };
    if (!is_in_it("imension") && !is_in_it("shape") && !is_in_it("broadcast")) return std::nullopt;
    std::string shown;
    std::set<std::int64_t> counts;
    std::size_t inputs = 0;
    for (std::size_t place = 0; place < request.inputs.size(); ++place) {
        const auto& declared = signature.inputs[place].shape;
        const auto& given = request.inputs[place].shape;
        if (declared.empty() || declared.front() >= 0 || given.empty()) continue;
        counts.insert(given.front());
        if (++inputs > limits::onnx_inputs_named) continue;
        const std::string name =
            runtime::shortened(request.inputs[place].name, limits::onnx_operator_name_bytes_max);
        shown += (shown.empty() ? "" : ", ") + in_quotes(name) + " " + std::to_string(given.front());
    }
    if (counts.size() < 2) return std::nullopt;
    if (inputs > limits::onnx_inputs_named) shown += ", …";
    return runtime::invalid_argument(
        {"the model cannot run with inputs whose first dimensions, the numbers of "
         "their rows, differ: ",
         shown});
}

/// Of a load: `own_bytes` of the pool are its own.
error no_memory(const byte_pool& models, std::uint64_t own_bytes) {
    const std::string bound = std::to_string(models.bytes_max()) + " (--models-memory-mb)";
    if (models.taken() <= own_bytes)
        return runtime::invalid_argument(
            {"loading the model needs more bytes of memory than all models of a node together may take, "
             "which "
             "is ",
             bound});
    return runtime::resource_exhausted(
        {"loading the model needs more memory than the loaded models leave: they "
         "take ",
         models.taken() - own_bytes, " bytes, and together all may take ", bound});
}

}  // namespace

onnx_session::onnx_session(session_parts with, const model_source& source)
    : x_with(std::move(with)),
      x_library(x_with.library),
      x_build(source.build),
      x_end_mark(source.end_mark.string()),
      x_late(source.build),
      x_runs(x_with.memory->one_model_bytes_max) {
    const mapped_file file(source.file);
    x_may_divide = operators_of(file.bytes(), dividing_operators());
    if (x_may_divide.empty()) x_may_divide = "one of its operators";
    x_takes_no_empty = operators_of(file.bytes(), operators_without_empty_inputs());
    x_operators = operators_of(file.bytes(), {});
    if (x_operators.empty()) x_operators = "one of its operators";
}

result<std::unique_ptr<onnx_session>> onnx_session::open(session_parts with, const model_source& source) {
    std::unique_ptr<onnx_session> out(new onnx_session(std::move(with), source));
    if (const auto good = out->load(source.file); !good) return good.error();
    if (const auto good = out->read_signature(); !good) return good.error();
    mark_unknown_ranks(out->x_signature.outputs, source.file);
    out->x_joined = joined_inputs(mapped_file(source.file).bytes(), out->x_signature);
    out->x_keeps_tensors = out->has_small_fixed_shapes() && out->has_a_name_for_each();
    return out;
}

onnx_session::~onnx_session() {
    x_session.reset();
    // A model leaves holes of all sizes: what is free goes back, or memory grows with every change of
    // version.
    ::malloc_trim(0);
    if (x_with.models) x_with.models->give_back(x_kept_bytes);
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
    std::error_code unknown;
    const std::uint64_t file_bytes = std::filesystem::file_size(file, unknown);
    counted_memory::bounds bounds;
    bounds.bytes_at_once =
        limits::onnx_load_bytes_at_once + (unknown ? 0 : file_bytes * limits::onnx_load_file_factor);
    bounds.pools.front() = x_with.models.get();
    counted_memory memory(bounds);
    auto session = x_library->make<OrtSession>([&](OrtSession** made) {
        memory.begin();
        OrtStatus* const out = api.CreateSession(x_library->environment(), file.c_str(), set, made);
        memory.end();
        return out;
    });
    if (!session && memory.lacked() != counted_memory::lack::none)
        return no_memory(*x_with.models, file_bytes + memory.bytes_of_pools());
    if (!session)
        return error{session.error().code,
                     "ONNX Runtime " + x_library->version() +
                         " cannot load the model: " + without_place(session.error().message, file)};
    x_session = *std::move(session);
    x_kept_bytes = memory.keep();
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
            return runtime::invalid_argument({"the names and shapes of the model's ", inputs, " inputs and ",
                                              outputs, " outputs take more than ",
                                              limits::onnx_signature_bytes_max, " bytes"});
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
        return runtime::invalid_argument({"the model's ", which,
                                          " is a sequence, a map or an optional, not a tensor; Herald serves "
                                          "tensors only (exporters can avoid the others, e.g. with "
                                          "zipmap=False)"});
    ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    std::size_t dims = 0;
    for (OrtStatus* status :
         {api.GetTensorElementType(tensor_info, &element), api.GetDimensionsCount(tensor_info, &dims)})
        if (const auto good = x_library->checked(status); !good) return good.error();
    const auto ours = our_type(element);
    if (!ours)
        return runtime::invalid_argument(
            {"the model's ", which, " has elements of ONNX's type ", static_cast<int>(element),
             "; Herald serves BOOL, integers, FP16, BF16, FP32, FP64 and BYTES"});
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
    if (const auto good = in_service(); !good) return good.error();
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
        return runtime::invalid_argument(
            {"the model has ", x_signature.inputs.size(), " inputs, not ", request.inputs.size()});
    for (std::size_t place = 0; place < request.inputs.size(); ++place) {
        const tensor& given = request.inputs[place];
        const tensor_spec& wanted = x_signature.inputs[place];
        const bool is_text = given.type == tensor_type::text;
        const auto size = is_text ? element_count(given.shape) : bytes_of_shape(given.type, given.shape);
        if (given.type != wanted.type || !size || *size != (is_text ? given.texts.size() : given.data.size()))
            return runtime::invalid_argument({"input ", in_quotes(wanted.name),
                                              " has another type than the model declares, or a number of "
                                              "elements that does not match its shape"});
        if (!x_takes_no_empty.empty() && *size == 0)
            return runtime::invalid_argument({"input ", in_quotes(wanted.name),
                                              " has no elements, which the model's ", x_takes_no_empty,
                                              " cannot take"});
        if (given.type == tensor_type::boolean &&
            std::ranges::any_of(given.data, [](char each) { return each != 0 && each != 1; }))
            return runtime::invalid_argument(
                {"input ", in_quotes(wanted.name), " is BOOL, but has an element that is neither 0 nor 1"});
    }
    for (const auto place : request.outputs)
        if (place >= x_signature.outputs.size())
            return runtime::invalid_argument({"the model has no output ", place});
    return x_joined.check(request.inputs);
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
    // Not the last caller's, if an operator does not write all of it.
    for (std::size_t place = inputs; place < with.memory.size(); ++place)
        std::ranges::fill(with.memory[place], '\0');
    bounded_run bounded(bounds_of(with));
    if (const auto good = run_watched(request, with, bounded, x_output_names); !good) {
        // It may be that the model does not give what it declares.
        if (good.error().code != error_code::invalid_argument || bounded.was_stopped()) return good.error();
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
        auto value = value_of(*x_library, each);
        if (!value) return value.error();
        with.input_places.push_back(value->get());
        inputs.push_back(*std::move(value));
    }
    std::vector<const char*> names;
    for (const auto place : request.outputs) names.push_back(x_output_names[place]);
    if (names.empty()) names = x_output_names;
    with.output_places.assign(names.size(), nullptr);
    bounded_run bounded(bounds_of(with));  // goes after the outputs, which it counts
    const auto ran = run_watched(request, with, bounded, names);
    std::vector<owned<OrtValue>> outputs;
    for (OrtValue* each : with.output_places) outputs.emplace_back(each, release{&x_library->api()});
    if (!ran) return ran.error();
    return copied_out(*x_library, *x_with.responses, outputs, names);
}

bounded_run::what onnx_session::bounds_of(const prepared_run& with) {
    return {x_library->api(), with.options.get(), *x_with.memory, x_runs, x_end_mark, x_may_divide};
}

result<void> onnx_session::run_watched(const tensor_request& request, prepared_run& with,
                                       bounded_run& bounded, const std::vector<const char*>& outputs) {
    OrtRunOptions* const options = with.options.get();
    if (request.deadline_ms != 0 && request.deadline_ms <= runtime::system_clock().steady_ms())
        return error{error_code::deadline_exceeded, "the deadline passed before the model ran"};
    run_watch& watch = *x_with.watch;
    watch.begin(options, request.deadline_ms, &x_late);
    if (request.cancelled) {
        const auto end = [&watch, options, &request] { watch.end_early(options, request.deadline_ms); };
        if (!request.cancelled->work_begins(end)) end();
    }
    under_way = {options, request.deadline_ms};
    OrtStatus* const status = bounded.run([&] {
        return x_library->api().Run(x_session.get(), options, x_input_names.data(), with.input_places.data(),
                                    with.input_places.size(), outputs.data(), outputs.size(),
                                    with.output_places.data());
    });
    under_way = {};
    if (request.cancelled) request.cancelled->work_has_ended();
    const bool was_ended = watch.end(options, request.deadline_ms);
    bounded.reset();
    const auto stopped = bounded.why_stopped(status);
    if (bounded.was_trapped() && !request.is_a_try) count_fault();
    auto out = x_library->checked_run(status);  // releases it
    if (stopped) return *stopped;
    if (!out && out.error().code == error_code::invalid_argument) {
        if (const auto rows = different_rows(out.error().message, x_signature, request)) return *rows;
    }
    if (!out && was_ended)
        return error{error_code::deadline_exceeded,
                     "the model did not finish before the prediction's deadline"};
    return out;
}

void onnx_session::count_fault() {
    if (x_faults.fetch_add(1, std::memory_order_relaxed) + 1 != limits::onnx_faults_max) return;
    runtime::log(
        runtime::log_level::error, runtime::log_events::model_out_of_service,
        {{"build", static_cast<std::int64_t>(x_build.value)}, {"reason", in_service().error().message}});
}

error onnx_session::broke_off(const lost_run& lost) {
    static_cast<void>(x_with.watch->end(under_way.options, under_way.deadline_ms));
    runtime::log(runtime::log_level::error, runtime::log_events::model_run_lost,
                 {{"build", static_cast<std::int64_t>(x_build.value)},
                  {"bytes", static_cast<std::int64_t>(lost.bytes)},
                  {"reason", runtime::shortened(lost.why, limits::onnx_reason_bytes_max)}});
    count_fault();
    std::string why =
        "the model cannot run with these inputs: " + x_operators + " broke off, and lost its thread";
    if (lost.lacked != counted_memory::lack::none)
        why += "; it needed more memory than it may take, which is at most " +
               std::to_string(x_with.memory->one_run_bytes_max >> 20U) + " MiB (--run-memory-mb)";
    return runtime::invalid_argument(why);
}

result<void> onnx_session::in_service() const {
    if (x_faults.load(std::memory_order_relaxed) < limits::onnx_faults_max) [[likely]]
        return {};
    return runtime::unavailable({"the model is out of service on this node: at ", limits::onnx_faults_max,
                                 " requests its run had to be stopped, because ", x_may_divide,
                                 " divided integers that have no quotient, or an operator broke off; update "
                                 "the stage to a build that "
                                 "takes such inputs"});
}

}  // namespace herald::api::serving::engines::onnx
