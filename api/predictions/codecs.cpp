#include "api/predictions/codecs.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/predictions/prediction_bodies.hpp"
#include "runtime/text.hpp"

namespace herald::api::predictions {
namespace {

using runtime::http::http_response;
using serving::engines::tensor_request;

constexpr std::string_view inference_header_length = "inference-header-content-length";

/// The body's content; an inflated body itself is gone before the wait begins, and what reading it takes.
template <class Read>
auto read_body(const routed_prediction& of, prediction_memory& memory, const Read& read)
    -> decltype(read(std::string_view(), memory_taker())) {
    plain_body body;
    if (const auto good = inflate_body(of, body, memory); !good) return good.error();
    const std::size_t inflated_bytes = body.inflated.empty() ? 0 : body.inflated.capacity();
    return read(body.bytes, [&](std::size_t bytes) { return memory.resize(inflated_bytes + bytes); });
}

/// `beside`: what else is kept until the answer.
result<tensor_request> request_of(tensors inputs, prediction_memory& memory, std::size_t beside = 0) {
    if (const auto fits = memory.resize(bytes_kept_of(inputs) + beside); !fits) return fits.error();
    tensor_request out;
    out.inputs = std::move(inputs);
    return out;
}

/// The approximate memory of a table's row labels.
std::size_t bytes_of_labels(const schemas::json_value& index) {
    const auto* const labels = index.get_if<schemas::json_array>();
    std::size_t out = 0;
    for (std::size_t place = 0; labels && place < labels->size(); ++place) {
        const auto* const text = (*labels)[place].get_if<std::string>();
        out += sizeof(schemas::json_value) + (text ? text->capacity() : 0);
    }
    return out;
}

/// The model's own order need not be passed.
bool are_all_in_order(const std::vector<std::uint32_t>& outputs, const schemas::model_signature& signature) {
    if (outputs.size() != signature.outputs.size()) return false;
    for (std::uint32_t place = 0; place < outputs.size(); ++place)
        if (outputs[place] != place) return false;
    return true;
}

/// Errors: invalid_argument.
result<std::optional<std::size_t>> length_of_json_part(const runtime::http::server::request& of) {
    const auto sent = of.header(inference_header_length);
    if (!sent) return std::optional<std::size_t>();
    const auto number = runtime::parse_decimal(*sent);
    if (!number)
        return runtime::invalid_argument({"Inference-Header-Content-Length is \"", *sent,
                                          "\"; it must be the length of the JSON part in bytes"});
    return std::optional<std::size_t>(*number);
}

}  // namespace

not_finite codec_base::written() const {
    const auto accepted = x_of.received.header("accept");
    return accepted && accepts_strict_json(*accepted) ? not_finite::as_null : not_finite::as_words;
}

void codec_base::warn_of(const schemas::tensor& output, not_finite how, http_response& out) {
    constexpr std::string_view name = "svc-warning";
    if (std::ranges::find(out.headers, name, &runtime::http::header::name) != out.headers.end()) return;
    if (!has_not_finite(output)) return;
    out.headers.push_back(
        {std::string(name),
         how == not_finite::as_null
             ? "null stands for numbers that are NaN or infinite"
             : "the model gave NaN or Infinity, which not every reader of JSON takes; with Accept: "
               "application/json; strict they are null"});
}

result<tensor_request> json_codec::decode(prediction_memory& memory) {
    auto inputs = read_body(x_of, memory, [&](std::string_view body, const memory_taker& take) {
        return inputs_of_json(body, x_signature, take);
    });
    if (!inputs) return inputs.error();
    return request_of(*std::move(inputs), memory);
}

result<void> json_codec::encode(const tensors& outputs, http_response& out) const {
    for (const schemas::tensor& each : outputs) warn_of(each, written(), out);
    return write_json(json_of_outputs(outputs, written()), out);
}

result<tensor_request> table_codec::decode(prediction_memory& memory) {
    auto table = read_body(x_of, memory, [&](std::string_view body, const memory_taker& take) {
        return inputs_of_split(body, x_signature, take);
    });
    if (!table) return table.error();
    x_index = std::move(table->index);
    return request_of(std::move(table->inputs), memory, bytes_of_labels(x_index));
}

result<void> table_codec::encode(const tensors& outputs, http_response& out) const {
    for (const schemas::tensor& each : outputs) warn_of(each, written(), out);
    return write_json(split_of_outputs(outputs, x_index, written()), out);
}

result<tensor_request> v2_codec::decode(prediction_memory& memory) {
    const auto length = length_of_json_part(x_of.received);
    if (!length) return length.error();
    auto read = read_body(x_of, memory, [&](std::string_view body, const memory_taker& take) {
        return request_of_v2(body, *length, x_signature, take);
    });
    if (!read) return read.error();
    x_request = *std::move(read);
    auto out = request_of(std::move(x_request.inputs), memory);
    if (out && !are_all_in_order(x_request.outputs, x_signature)) out->outputs = x_request.outputs;
    return out;
}

result<void> v2_codec::encode(const tensors& outputs, http_response& out) const {
    auto made =
        v2_of_outputs(x_of.path.name, std::to_string(x_of.component().version_number), x_request, outputs);
    if (!made) return made.error();
    for (std::size_t place = 0; place < outputs.size(); ++place)
        if (place >= x_request.is_binary.size() || !x_request.is_binary[place])
            warn_of(outputs[place], not_finite::as_null, out);
    if (const auto good = write_json(std::move(made->body), out); !good || !made->header_bytes) return good;
    out.content_type = "application/octet-stream";
    out.headers.push_back({std::string(inference_header_length), std::to_string(*made->header_bytes)});
    return {};
}

codec::dialects codec::chosen(const routed_prediction& of, const schemas::model_signature& signature) {
    if (of.path.what == path_kind::json) return json_codec(of, signature);
    if (of.path.what == path_kind::table) return table_codec(of, signature);
    return v2_codec(of, signature);
}

}  // namespace herald::api::predictions
