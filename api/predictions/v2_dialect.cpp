#include "api/predictions/v2_dialect.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "api/predictions/elements.hpp"
#include "api/predictions/limits.hpp"
#include "runtime/text.hpp"

namespace herald::api::predictions {
namespace {

using schemas::json_array;
using schemas::json_object;
using schemas::json_value;
using schemas::model_signature;
using schemas::tensor;
using schemas::tensor_spec;
using schemas::tensor_type;

error wrong(std::string text) { return runtime::invalid_argument(std::move(text)); }

/// A number that is an integer from 0 on; 2.0 is one, too.
std::optional<std::uint64_t> count_in(const json_value* value) {
    if (!value) return std::nullopt;
    if (const auto* number = value->get_if<std::int64_t>(); number && *number >= 0)
        return static_cast<std::uint64_t>(*number);
    if (const auto* number = value->get_if<std::uint64_t>()) return *number;
    const auto* const number = value->get_if<double>();
    if (!number || !(*number >= 0 && *number <= static_cast<double>(limits::exact_integer_max)) ||
        std::trunc(*number) != *number)
        return std::nullopt;
    return static_cast<std::uint64_t>(*number);
}

/// Of a member that may be left out, null says as much as leaving it out.
const json_value* optional_member(const json_value& of, std::string_view name) {
    const json_value* const found = of.find(name);
    return found && !found->is_null() ? found : nullptr;
}

const json_value* parameter(const json_value& of, std::string_view name) {
    const json_value* const all = of.find("parameters");
    return all ? optional_member(*all, name) : nullptr;
}

/// The value of a true-or-false parameter; `otherwise` when it is absent.
result<bool> flag_in(const json_value& of, std::string_view name, bool otherwise) {
    const json_value* const value = parameter(of, name);
    if (!value) return otherwise;
    if (const bool* const flag = value->get_if<bool>()) return *flag;
    return wrong("the parameter " + std::string(name) + " is " + std::string(value->kind_text()) +
                 "; it must be true or false");
}

result<std::string> name_in(const json_value& of, std::string_view what) {
    const json_value* const value = of.find("name");
    if (const std::string* const name = value ? value->get_if<std::string>() : nullptr) return *name;
    return wrong("each member of " + std::string(what) + " must be an object with a name, a string");
}

/// Errors: invalid_argument for another type or shape than the model declares.
result<std::vector<std::int64_t>> shape_in(const json_value& of, const tensor_spec& spec) {
    const json_value* const type = of.find("datatype");
    const std::string* const type_name = type ? type->get_if<std::string>() : nullptr;
    if (!type_name || *type_name != name_of(spec.type))
        return wrong("input \"" + spec.name + "\" must have the datatype " + std::string(name_of(spec.type)) +
                     (type_name ? "; found " + *type_name : "; it is missing"));
    const json_value* const shape = of.find("shape");
    const json_array* const items = shape ? shape->get_if<json_array>() : nullptr;
    if (!items) return wrong("input \"" + spec.name + "\" must have a shape, an array of numbers");
    std::vector<std::int64_t> out;
    for (const json_value& each : *items) {
        const auto size = count_in(&each);
        if (!size || *size > static_cast<std::uint64_t>(INT64_MAX))
            return wrong("the shape of input \"" + spec.name + "\" must hold numbers from 0 on");
        out.push_back(static_cast<std::int64_t>(*size));
    }
    if (!fits(out, spec.shape)) return wrong_shape(spec, out);
    return out;
}

/// Errors: invalid_argument when the bytes are not so many texts, each after its length.
result<void> take_texts(std::string_view bytes, std::size_t count, tensor& to) {
    to.texts.reserve(std::min(count, bytes.size() / sizeof(std::uint32_t)));
    for (std::size_t i = 0; i < count; ++i) {
        std::uint32_t length = 0;
        if (bytes.size() < sizeof length)
            return wrong("input \"" + to.name + "\" ends before the length of its element " +
                         std::to_string(i));
        std::memcpy(&length, bytes.data(), sizeof length);
        bytes.remove_prefix(sizeof length);
        if (bytes.size() < length)
            return wrong("input \"" + to.name + "\": element " + std::to_string(i) + " should have " +
                         std::to_string(length) + " bytes; " + std::to_string(bytes.size()) + " are left");
        to.texts.emplace_back(bytes.substr(0, length));
        bytes.remove_prefix(length);
    }
    if (bytes.empty()) return {};
    return wrong("input \"" + to.name + "\" has " + std::to_string(bytes.size()) + " bytes more than its " +
                 std::to_string(count) + " elements");
}

/// Takes the tensor's bytes off the front of what follows the JSON part.
result<void> take_binary(std::uint64_t bytes, std::string_view& rest, tensor& to) {
    if (bytes > rest.size())
        return wrong("input \"" + to.name + "\" has the binary_data_size " + std::to_string(bytes) +
                     "; behind the "
                     "JSON part there are " +
                     std::to_string(rest.size()) + " bytes left");
    const std::string_view mine = rest.substr(0, static_cast<std::size_t>(bytes));
    rest.remove_prefix(mine.size());
    const std::size_t count = elements_of(to.shape);
    if (to.type == tensor_type::text) return take_texts(mine, count, to);
    const std::size_t width = schemas::bytes_of(to.type);
    if (mine.size() % width != 0 || mine.size() / width != count)
        return wrong("input \"" + to.name + "\", " + text_of(to.type, to.shape) + ", must have " +
                     count_text(to.shape) + " of " + std::to_string(width) + " bytes; found " +
                     std::to_string(mine.size()) + " bytes");
    to.data = mine;
    if (to.type == tensor_type::boolean &&
        std::ranges::any_of(to.data, [](char c) { return c != 0 && c != 1; }))
        return wrong("input \"" + to.name + "\" is BOOL, and holds a byte that is neither 0 nor 1");
    return {};
}

error wrong_nesting(const tensor& to, const std::string& found) {
    return wrong("the data of input \"" + to.name + "\", " + text_of(to.type, to.shape) +
                 ", must be flat, or nested exactly as its shape says; found " + found);
}

result<void> append_nested_data(const json_value& value, tensor& to, std::size_t depth) {
    const json_array* const items = value.get_if<json_array>();
    const bool is_element = depth == to.shape.size();
    const auto expected =
        is_element ? std::string("an element") : "an array of " + std::to_string(to.shape[depth]);
    if (is_element == (items != nullptr))
        return wrong_nesting(to, std::string(value.kind_text()) + " at depth " + std::to_string(depth) +
                                     " instead of " + expected);
    if (is_element) return append_element(to, value);
    if (!std::cmp_equal(items->size(), to.shape[depth]))
        return wrong_nesting(to, "an array of " + std::to_string(items->size()) + " at depth " +
                                     std::to_string(depth) + " instead of " + expected);
    for (const json_value& each : *items)
        if (const auto good = append_nested_data(each, to, depth + 1); !good) return good;
    return {};
}

/// Errors: invalid_argument for data that is neither flat nor nested as the shape says.
result<void> append_data(const json_value& data, tensor& to) {
    const json_array& items = *data.get_if<json_array>();
    if (!items.empty() && items.front().get_if<json_array>()) return append_nested_data(data, to, 0);
    for (const json_value& each : items) {
        if (each.get_if<json_array>()) return wrong_nesting(to, "elements and arrays side by side");
        if (const auto good = append_element(to, each); !good) return good;
    }
    return {};
}

result<tensor> input_of(const json_value& sent, const tensor_spec& spec, std::string_view& rest) {
    auto shape = shape_in(sent, spec);
    if (!shape) return shape.error();
    tensor made;
    made.name = spec.name;
    made.type = spec.type;
    made.shape = *std::move(shape);
    const json_value* const data = optional_member(sent, "data");
    const json_value* const binary = parameter(sent, "binary_data_size");
    if (binary) {
        const auto bytes = count_in(binary);
        if (!bytes || data)
            return wrong("input \"" + spec.name +
                         "\" must have either data or a binary_data_size, a number from 0 on");
        if (const auto good = take_binary(*bytes, rest, made); !good) return good.error();
        return made;
    }
    if (!data || !data->get_if<json_array>())
        return wrong("input \"" + spec.name +
                     "\" must have data, an array, or the parameter binary_data_size");
    if (const auto good = append_data(*data, made); !good) return good.error();
    const std::size_t width = schemas::bytes_of(made.type);
    const std::size_t found = width == 0 ? made.texts.size() : made.data.size() / width;
    if (found == elements_of(made.shape)) return made;
    return wrong("input \"" + spec.name + "\", " + text_of(spec.type, made.shape) + ", must have " +
                 count_text(made.shape) + "; found " + std::to_string(found));
}

constexpr std::string_view shared_memory = "shared_memory_region";

/// `supported`: what can be used instead. Errors: invalid_argument naming the first one that was sent.
result<void> refuse_parameters(const json_value& of, const std::string& what,
                               std::initializer_list<std::string_view> refused, std::string_view supported) {
    for (const std::string_view each : refused)
        if (parameter(of, each))
            return wrong("the parameter " + std::string(each) + " of " + what + " is not supported; " +
                         std::string(supported));
    return {};
}

result<void> read_inputs(const json_value& head, std::string_view rest, const model_signature& signature,
                         v2_request& request) {
    const json_value* const sent = head.find("inputs");
    const json_array* const items = sent ? sent->get_if<json_array>() : nullptr;
    if (!items)
        return wrong("inputs is " + std::string(sent ? sent->kind_text() : "missing") +
                     "; it must be an array of tensors");
    std::vector<std::optional<tensor>> found(signature.inputs.size());
    for (const json_value& each : *items) {
        const auto name = name_in(each, "inputs");
        if (!name) return name.error();
        const auto spec = std::ranges::find(signature.inputs, *name, &tensor_spec::name);
        if (spec == signature.inputs.end()) return unknown_input(*name, signature);
        if (const auto good = refuse_parameters(each, "input \"" + *name + "\"", {shared_memory},
                                                "send data, or binary_data_size");
            !good)
            return good;
        auto& place = found[static_cast<std::size_t>(spec - signature.inputs.begin())];
        if (place) return wrong("the input \"" + *name + "\" is there twice");
        auto input = input_of(each, *spec, rest);
        if (!input) return input.error();
        place = *std::move(input);
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (!found[i])
            return wrong("the input \"" + signature.inputs[i].name + "\", " +
                         text_of(signature.inputs[i].type, signature.inputs[i].shape) + ", is missing");
        request.inputs.push_back(*std::move(found[i]));
    }
    if (rest.empty()) return {};
    return wrong("behind the tensors there are " + std::to_string(rest.size()) +
                 " bytes that no binary_data_size names");
}

result<void> read_outputs(const json_value& head, const model_signature& signature, v2_request& request) {
    const auto all_binary = flag_in(head, "binary_data_output", false);
    if (!all_binary) return all_binary.error();
    const json_value* const sent = optional_member(head, "outputs");
    const json_array* const items = sent ? sent->get_if<json_array>() : nullptr;
    if (sent && !items) return wrong("outputs must be an array");
    if (!items || items->empty()) {
        for (std::uint32_t i = 0; i < signature.outputs.size(); ++i) request.outputs.push_back(i);
        request.is_binary.assign(signature.outputs.size(), *all_binary);
        return {};
    }
    for (const json_value& each : *items) {
        const auto name = name_in(each, "outputs");
        if (!name) return name.error();
        const auto spec = std::ranges::find(signature.outputs, *name, &tensor_spec::name);
        if (spec == signature.outputs.end())
            return wrong("\"" + *name + "\" is not an output of the model; it has " +
                         names_of(signature.outputs));
        if (const auto good =
                refuse_parameters(each, "output \"" + *name + "\"", {"classification", shared_memory},
                                  "of an output, binary_data is");
            !good)
            return good;
        const auto binary = flag_in(each, "binary_data", *all_binary);
        if (!binary) return binary.error();
        const auto place = static_cast<std::uint32_t>(spec - signature.outputs.begin());
        if (std::ranges::find(request.outputs, place) != request.outputs.end())
            return wrong("the output \"" + *name + "\" is asked for twice");
        request.outputs.push_back(place);
        request.is_binary.push_back(*binary);
    }
    return {};
}

std::size_t binary_bytes(const tensor& of) {
    if (of.type != tensor_type::text) return of.data.size();
    std::size_t bytes = 0;
    for (const std::string& each : of.texts) bytes += sizeof(std::uint32_t) + each.size();
    return bytes;
}

void append_binary(std::string& out, const tensor& from) {
    if (from.type != tensor_type::text) {
        out += from.data;
        return;
    }
    for (const std::string& each : from.texts) {
        const auto length = static_cast<std::uint32_t>(each.size());
        out.append(reinterpret_cast<const char*>(&length), sizeof length);
        out += each;
    }
}

void append_shape(std::string& out, const std::vector<std::int64_t>& shape) {
    out += '[';
    for (std::size_t i = 0; i < shape.size(); ++i) out += (i == 0 ? "" : ",") + std::to_string(shape[i]);
    out += ']';
}

std::string specs_of(const std::vector<tensor_spec>& specs) {
    return schemas::json_list(specs, [](const tensor_spec& each) {
        schemas::object_writer out;
        out.text("name", each.name).text("datatype", name_of(each.type));
        // [] would be a scalar, [-1] a vector: an unknown shape is left out.
        if (schemas::has_unknown_rank(each)) return out.finish();
        std::string shape;
        append_shape(shape, each.shape);
        return out.raw("shape", shape).finish();
    });
}

}  // namespace

result<v2_request> request_of_v2(std::string_view body, std::optional<std::size_t> header_bytes,
                                 const model_signature& signature, const memory_taker& take) {
    if (header_bytes && *header_bytes > body.size())
        return wrong("Inference-Header-Content-Length is " + std::to_string(*header_bytes) +
                     "; the body has " + std::to_string(body.size()) + " bytes");
    const std::string_view json = body.substr(0, header_bytes.value_or(body.size()));
    const auto room = reading_memory(json, signature, take).take_for_tree(body.size() - json.size());
    if (!room) return room.error();
    const auto head = schemas::parse_prediction_json(json);
    if (!head) return head.error();
    if (!head->get_if<json_object>()) return wrong("the body must be an object with inputs");
    v2_request request;
    if (const json_value* const id = optional_member(*head, "id")) {
        const std::string* const text = id->get_if<std::string>();
        if (!text) return wrong("id is " + std::string(id->kind_text()) + "; it must be a string");
        request.id = *text;
    }
    if (const auto good = read_inputs(*head, body.substr(json.size()), signature, request); !good)
        return good.error();
    if (const auto good = read_outputs(*head, signature, request); !good) return good.error();
    return request;
}

result<v2_response> v2_of_outputs(std::string_view model, std::string_view version, const v2_request& request,
                                  const tensors& outputs) {
    std::string list = "[";
    std::string binary;
    bool has_binary = false;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const tensor& each = outputs[i];
        if (i > 0) list += ',';
        list += "{\"name\":";
        runtime::append_json_string(list, each.name);
        list += ",\"datatype\":\"" + std::string(name_of(each.type)) + "\",\"shape\":";
        append_shape(list, each.shape);
        if (const auto good = check_answer_bytes(list.size() + binary.size()); !good) return good.error();
        if (i < request.is_binary.size() && request.is_binary[i]) {
            const std::size_t bytes = binary_bytes(each);
            if (const auto good = check_answer_bytes(list.size() + binary.size() + bytes); !good)
                return good.error();
            list += ",\"parameters\":{\"binary_data_size\":" + std::to_string(bytes) + "}}";
            append_binary(binary, each);
            has_binary = true;
            continue;
        }
        list += ",\"data\":[";
        if (const auto good =
                append_elements_json(list, each, 0, elements_of(each.shape), not_finite::as_null);
            !good)
            return good.error();
        list += "]}";
    }
    list += ']';
    schemas::object_writer out;
    out.text("model_name", model).text("model_version", version);
    if (!request.id.empty()) out.text("id", request.id);
    v2_response response;
    response.body = out.raw("outputs", list).finish();
    if (const auto good = check_answer_bytes(response.body.size() + binary.size()); !good)
        return good.error();
    if (has_binary) response.header_bytes = response.body.size();
    response.body += binary;
    return response;
}

std::string v2_metadata(std::string_view model, std::string_view version, const model_signature& signature,
                        std::string_view platform) {
    std::string versions = "[";
    runtime::append_json_string(versions, version);
    return schemas::object_writer()
        .text("name", model)
        .raw("versions", versions + "]")
        .text("platform", platform)
        .raw("inputs", specs_of(signature.inputs))
        .raw("outputs", specs_of(signature.outputs))
        .finish();
}

std::string v2_server_metadata(std::string_view version) {
    return schemas::object_writer()
        .text("name", "herald")
        .text("version", version)
        .raw("extensions", R"(["binary_tensor_data"])")
        .finish();
}

}  // namespace herald::api::predictions
