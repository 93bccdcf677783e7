#include "api/predictions/prediction_document.hpp"

#include <functional>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "api/predictions/prediction_paths.hpp"
#include "api/serving/limits.hpp"
#include "schemas/json.hpp"
#include "schemas/limits.hpp"
#include "schemas/tensors.hpp"

namespace herald::api::predictions {
namespace {

using schemas::object_writer;

struct documented_path {
    std::string_view pattern;
    std::string_view name;
    path_kind what;
    std::string_view summary;
};
constexpr documented_path documented_paths[] = {
    {"/api/v1/predict/{endpoint_path}", "predict", path_kind::json, "Requests a prediction"},
    {"/api/v1/batch-predict/{endpoint_path}", "batch_predict", path_kind::table,
     "Requests a prediction for each row of a table"},
    {"/v2", "get_inference_server", path_kind::server, "Name and version of the server"},
    {"/v2/health/live", "get_inference_server_live", path_kind::server_live, "Whether the server is live"},
    {"/v2/health/ready", "get_inference_server_ready", path_kind::server_ready,
     "Whether the server's models are loaded"},
    {"/v2/models/{model_name}", "get_inference_model", path_kind::model, "Inputs and outputs of a model"},
    {"/v2/models/{model_name}/versions/{model_version}", "get_inference_model_version", path_kind::model,
     "Inputs and outputs of this version of a model"},
    {"/v2/models/{model_name}/ready", "get_inference_model_ready", path_kind::model_ready,
     "Whether a model can be asked"},
    {"/v2/models/{model_name}/versions/{model_version}/ready", "get_inference_model_version_ready",
     path_kind::model_ready, "Whether this version of a model can be asked"},
    {"/v2/models/{model_name}/infer", "infer", path_kind::inference, "Runs inference"},
    {"/v2/models/{model_name}/versions/{model_version}/infer", "infer_version", path_kind::inference,
     "Runs inference on this version of a model"},
};

// ---- schemas

constexpr const char* texts_schema = R"({"type":"string"})";
constexpr const char* flag_schema = R"({"type":"boolean"})";
constexpr const char* shape_schema = R"({"type":"array","items":{"type":"integer"}})";

/// The schema with what it means.
std::string meaning(std::string_view schema, std::string_view text) {
    return object_writer().members_of(schema).text("description", text).finish();
}
std::string reference(std::string_view kind, std::string_view name) {
    return object_writer()
        .text("$ref", "#/components/" + std::string(kind) + "/" + std::string(name))
        .finish();
}
std::string list_of(std::string_view items) {
    return object_writer().text("type", "array").raw("items", items).finish();
}
enum class presence : std::uint8_t { always, maybe };
using enum presence;
struct member {
    presence is;
    std::string_view name;
    std::string schema;
    std::string_view text;
};
std::string object_schema(std::initializer_list<member> members) {
    object_writer properties;
    std::vector<std::string> required;
    for (const member& each : members) {
        properties.raw(each.name, meaning(each.schema, each.text));
        if (each.is == always) required.push_back("\"" + std::string(each.name) + "\"");
    }
    return object_writer()
        .text("type", "object")
        .raw("properties", properties.finish())
        .raw("required", schemas::json_list(required, std::identity()))
        .finish();
}

std::string datatype_schema() {
    const std::string names =
        schemas::json_list(schemas::enum_names<schemas::tensor_type>,
                           [](const auto& each) { return "\"" + std::string(each.name) + "\""; });
    return object_writer().text("type", "string").raw("enum", names).finish();
}

constexpr std::string_view parameters_text = "Parameters of the extension for binary tensors";

/// A tensor of a request, or of an answer.
std::string tensor_schema() {
    const std::string parameters =
        object_schema({{maybe, "binary_data_size", R"({"type":"integer","minimum":0})",
                        "Bytes of the tensor behind the JSON part, little-endian; texts each after their "
                        "length in 4 bytes"}});
    return object_schema({{always, "name", texts_schema, "As the model names it"},
                          {always, "datatype", datatype_schema(), "The type of its elements"},
                          {always, "shape", shape_schema, "The length of each dimension"},
                          {maybe, "data", list_of("{}"),
                           "The elements, flat in row-major order or nested as the shape says; not with "
                           "binary_data_size"},
                          {maybe, "parameters", parameters, parameters_text}});
}

std::string request_schema() {
    const std::string binary_data = object_schema(
        {{maybe, "binary_data", flag_schema, "Whether the answer has it behind the JSON part"}});
    const std::string output = object_schema({{always, "name", texts_schema, "As the model names it"},
                                              {maybe, "parameters", binary_data, parameters_text}});
    const std::string binary_output = object_schema(
        {{maybe, "binary_data_output", flag_schema, "binary_data of outputs that do not set it"}});
    return object_schema(
        {{maybe, "id", texts_schema, "The answer repeats it"},
         {always, "inputs", list_of(tensor_schema()), "Each input of the model, once"},
         {maybe, "outputs", list_of(output), "The outputs to answer, in this order; absent: all"},
         {maybe, "parameters", binary_output, parameters_text}});
}

std::string answer_schema() {
    return object_schema({{always, "model_name", texts_schema, "As in the path"},
                          {always, "model_version", texts_schema, "The version_number that answered"},
                          {maybe, "id", texts_schema, "The id of the request"},
                          {always, "outputs", list_of(tensor_schema()), "The model's outputs"}});
}

std::string model_schema() {
    const std::string tensor =
        object_schema({{always, "name", texts_schema, "As the model names it"},
                       {always, "datatype", datatype_schema(), "The type of its elements"},
                       {maybe, "shape", shape_schema,
                        "The length of each dimension; -1: free. Absent for an output whose number of "
                        "dimensions is unknown"}});
    return object_schema(
        {{always, "name", texts_schema,
          "The endpoint's path without its first slash, with dots for other slashes"},
         {always, "versions", list_of(texts_schema), "The version_number that is served"},
         {always, "platform", texts_schema, "The platform that runs it: onnxruntime_onnx or upstream"},
         {always, "inputs", list_of(tensor), "Its inputs; empty for upstream"},
         {always, "outputs", list_of(tensor), "Its outputs; empty for upstream"}});
}

std::string table_schema(presence index, std::string_view rows) {
    return object_schema(
        {{index, "index", R"({"oneOf":[{"type":"array","items":{}},{"type":"null"}]})",
          "A label for each row; the answer repeats them, or counts from 0 if they are absent"},
         {always, "columns", list_of("{}"),
          "Names of the inputs or outputs; or any names for the second dimension of a single input"},
         {always, "data", list_of(list_of("{}")), rows}});
}

std::map<std::string, std::string> all_schemas() {
    return {
        {"prediction_table_input",
         table_schema(maybe,
                      "The rows, each with a value for each column; null is NaN where the input has "
                      "floats")},
        {"prediction_table", table_schema(always, "The rows, each with a value for each column")},
        {"inference_request", request_schema()},
        {"inference_response", answer_schema()},
        {"inference_model", model_schema()},
        {"inference_server", object_schema({{always, "name", texts_schema, "herald"},
                                            {always, "version", texts_schema, "Version of the program"},
                                            {always, "extensions", list_of(texts_schema),
                                             "Extensions of the protocol that the server supports"}})},
        {"inference_server_live", object_schema({{always, "live", flag_schema, "true"}})},
        {"inference_server_ready",
         object_schema({{always, "ready", flag_schema, "Whether all models that can be loaded are loaded"}})},
        {"inference_model_ready", object_schema({{always, "name", texts_schema, "As in the path"},
                                                 {always, "ready", flag_schema, "true"}})},
        {"inference_error",
         object_schema({{always, "error", texts_schema, "What was wrong, and what would be right"}})},
    };
}

// ---- answers

struct told_header {
    std::string_view name;
    std::string_view meaning;
};
constexpr told_header told_headers[] = {
    {"svc-request-id", "The request's name in the log: as it was sent, or a new one"},
    {"svc-build-id", "The build that answered"},
    {"svc-endpoint-id", "The endpoint"},
    {"svc-endpoint-owner-id", "The endpoint's owner"},
    {"svc-endpoint-owner-name", "The endpoint's owner, percent-encoded UTF-8"},
    {"svc-endpoint-path", "The endpoint, percent-encoded UTF-8"},
    {"svc-model-name", "The registered model that answered, percent-encoded UTF-8"},
    {"svc-model-version", "The version of it that answered, percent-encoded UTF-8"},
};

void add_header(object_writer& to, std::string_view name, std::string_view text,
                std::string_view schema = texts_schema) {
    to.raw(name, object_writer().text("description", text).raw("schema", schema).finish());
}

/// `known`: how many of the eight.
std::string headers_of(std::size_t known, bool with_retry_after = false, bool with_binary = false,
                       bool with_warning = false) {
    object_writer out;
    for (std::size_t i = 0; i < known; ++i) add_header(out, told_headers[i].name, told_headers[i].meaning);
    if (with_warning)
        add_header(
            out, "svc-warning",
            "That the model gave NaN or Infinity, for which JSON has no words, and what stands for them");
    if (with_retry_after) add_header(out, "retry-after", "Seconds to wait before the next try");
    if (with_binary)
        add_header(out, "inference-header-content-length",
                   "Length of the JSON part in bytes, when binary tensors follow it",
                   R"({"type":"integer"})");
    return out.finish();
}

std::string json_content(std::string_view schema) {
    const std::string media = object_writer().raw("schema", schema).finish();
    return object_writer().raw("application/json", media).finish();
}
constexpr std::string_view bytes_media = R"({"schema":{"type":"string","format":"binary"}})";
/// In JSON, or a JSON part with tensors behind it.
std::string json_or_binary_content(std::string_view schema) {
    return object_writer()
        .members_of(json_content(schema))
        .raw("application/octet-stream", bytes_media)
        .finish();
}

struct told_refusal {
    int status;
    std::string_view why;
    bool is_only_posted = false;
};
constexpr told_refusal refusals[] = {
    {400,
     "The request does not match the model; the message names the input, what is expected and what was "
     "found. Code 9 means that repeating cannot help: nothing is deployed, or the answer is too large or is "
     "not a table"},
    {401, "The Access-token is missing, or is not a token of the endpoint"},
    {403, "The token is of another endpoint, or the build was reported unsafe by the scan that is named"},
    {404, "There is no such endpoint, or another version of its model is served"},
    {413,
     "The body, compressed or decompressed, is larger than the endpoint allows, or takes more memory than "
     "the "
     "node has for requests",
     true},
    {414, "The path and the query are longer than 2048 bytes"},
    {415, "The body's Content-Encoding is neither gzip nor deflate", true},
    {429, "Too many predictions are under way; Retry-After says when to try again", true},
    {500, "A fault in Herald or in the model"},
    {502, "The server that answers for the build has failed", true},
    {503,
     "The model is not loaded here yet, or this node may not answer now; Retry-After says when to try "
     "again"},
    {504, "There was no answer in time", true},
};

constexpr std::string_view prefix_of(path_kind what) noexcept {
    return is_of_v2(what) ? "inference_" : "prediction_";
}

std::map<std::string, std::string> all_responses() {
    std::map<std::string, std::string> all;
    for (const auto& [what, schema] :
         {std::pair{path_kind::json, "failure"}, std::pair{path_kind::inference, "inference_error"}})
        for (const told_refusal& each : refusals)
            all[std::string(prefix_of(what)) + std::to_string(each.status)] =
                object_writer()
                    .text("description", each.why)
                    .raw("headers",
                         headers_of(std::size(told_headers), each.status == 429 || each.status == 503))
                    .raw("content", json_content(reference("schemas", schema)))
                    .finish();
    return all;
}

/// What a good answer holds; "{}" is any JSON.
std::string answered_schema(path_kind what) {
    switch (what) {
        case path_kind::json:
            break;
        case path_kind::table:
            return reference("schemas", "prediction_table");
        case path_kind::server:
            return reference("schemas", "inference_server");
        case path_kind::server_live:
            return reference("schemas", "inference_server_live");
        case path_kind::server_ready:
            return reference("schemas", "inference_server_ready");
        case path_kind::model:
            return reference("schemas", "inference_model");
        case path_kind::model_ready:
            return reference("schemas", "inference_model_ready");
        case path_kind::inference:
            return reference("schemas", "inference_response");
    }
    return "{}";
}

std::string success_of(path_kind what) {
    const std::string schema = answered_schema(what);
    const bool may_be_binary = what == path_kind::inference;
    const bool may_warn = may_be_binary || what == path_kind::json || what == path_kind::table;
    return object_writer()
        .text("description", what == path_kind::json
                                 ? "The outputs by name, or the bare value of a single one; the answer of "
                                   "another server for the build is passed on as it is"
                                 : "Success")
        .raw("headers",
             headers_of(needs_token(what) ? std::size(told_headers) : 1, false, may_be_binary, may_warn))
        .raw("content", may_be_binary ? json_or_binary_content(schema) : json_content(schema))
        .finish();
}

std::string responses_of(path_kind what) {
    object_writer out;
    out.raw("200", success_of(what));
    if (what == path_kind::server_ready)
        out.raw("503", object_writer()
                           .text("description", "Not yet")
                           .raw("headers", headers_of(1, true))
                           .raw("content", json_content(answered_schema(what)))
                           .finish());
    for (const told_refusal& each : refusals) {
        const bool is_told = needs_token(what) ? is_posted(what) || !each.is_only_posted : each.status == 500;
        if (is_told)
            out.raw(std::to_string(each.status),
                    reference("responses", std::string(prefix_of(what)) + std::to_string(each.status)));
    }
    return out.finish();
}

// ---- requests

std::string parameter(std::string_view name, std::string_view place, std::string_view text,
                      std::string_view schema) {
    return object_writer()
        .text("name", name)
        .text("in", place)
        .flag("required", place == "path")
        .raw("schema", schema)
        .text("description", text)
        .finish();
}

std::string path_schema(std::string_view pattern) {
    return object_writer()
        .text("type", "string")
        .number("minLength", 1)
        .number("maxLength", limits::endpoint_path_bytes_max)
        .text("pattern", pattern)
        .finish();
}

std::string parameters_of(const documented_path& of) {
    std::vector<std::string> all;
    if (of.pattern.find("{endpoint_path}") != of.pattern.npos)
        all.push_back(parameter("endpoint_path", "path",
                                "The endpoint's path without its first slash; send other slashes as they are",
                                path_schema("^[A-Za-z0-9_.~-]+(/[A-Za-z0-9_.~-]+)*$")));
    if (of.pattern.find("{model_name}") != of.pattern.npos)
        all.push_back(parameter("model_name", "path",
                                "The endpoint's path without its first slash, with dots for other slashes",
                                path_schema("^[A-Za-z0-9_.~-]+$")));
    if (of.pattern.find("{model_version}") != of.pattern.npos)
        all.push_back(parameter("model_version", "path",
                                "The version_number; it must be the one that is served",
                                R"({"type":"integer","minimum":1})"));
    if (is_posted(of.what))
        all.push_back(parameter("Content-Encoding", "header", "How the body is compressed",
                                R"({"type":"string","enum":["gzip","deflate","identity"]})"));
    if (of.what == path_kind::inference)
        all.push_back(parameter("Inference-Header-Content-Length", "header",
                                "Length of the JSON part in bytes, when binary tensors follow it",
                                R"({"type":"integer","minimum":0})"));
    all.push_back(reference("parameters", "request_id"));
    return schemas::json_list(all, [](const std::string& each) { return each; });
}

std::string body_of(path_kind what) {
    std::string content;
    if (what == path_kind::json)
        content = json_content("{}");
    else if (what == path_kind::table)
        content = json_content(reference("schemas", "prediction_table_input"));
    else
        content = json_or_binary_content(reference("schemas", "inference_request"));
    std::string text = "At most " + std::to_string(limits::prediction_body_bytes_default) +
                       " bytes, inflated, unless the endpoint's update says otherwise";
    if (what == path_kind::json)
        text +=
            ". An object with each input by name, as nested arrays; the bare value of a single input; or a "
            "list of such objects, one for each row. NaN, Infinity and -Infinity are numbers, too";
    return object_writer().text("description", text).flag("required", true).raw("content", content).finish();
}

std::string operation_of(const documented_path& of) {
    object_writer out;
    out.text("operationId", of.name)
        .text("summary", of.summary)
        .raw("tags", R"(["Predictions"])")
        .raw("parameters", parameters_of(of))
        .raw("security", needs_token(of.what) ? R"([{"access_token":[]}])" : "[]");
    if (is_posted(of.what)) out.raw("requestBody", body_of(of.what));
    return out.raw("responses", responses_of(of.what)).finish();
}

}  // namespace

calls::document_part document_part() {
    calls::document_part out;
    for (const documented_path& each : documented_paths)
        out.paths[std::string(each.pattern)] =
            object_writer().raw(is_posted(each.what) ? "post" : "get", operation_of(each)).finish();
    out.schemas = all_schemas();
    out.responses = all_responses();
    out.security_schemes["access_token"] =
        R"({"type":"apiKey","in":"header","name":"Access-token","description":"A token of the endpoint's stage"})";
    return out;
}

}  // namespace herald::api::predictions
