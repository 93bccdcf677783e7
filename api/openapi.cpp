#include "api/openapi.hpp"

#include <map>
#include <set>

#include "runtime/text.hpp"
#include "schemas/commands/all.hpp"
#include "schemas/find.hpp"
#include "schemas/json_schema.hpp"

namespace herald::api {
namespace {

using calls::route;
using schemas::json_schema_of;
using schemas::object_writer;

/// Components that are described types; what is not here is shown as an object without named members.
std::map<std::string_view, std::string> components() {
    return {
        {"activity", json_schema_of<schemas::activity>()},
        {"close_transition", json_schema_of<schemas::commands::close_transition>()},
        {"commit_transition", json_schema_of<schemas::commands::commit_transition>()},
        {"create_transition", json_schema_of<schemas::commands::create_transition>()},
        {"delete_webhooks", json_schema_of<schemas::commands::delete_webhooks>()},
        {"fail_promotion", json_schema_of<schemas::commands::fail_promotion>()},
        {"feature_flag", json_schema_of<schemas::commands::feature_flag>()},
        {"find_request", json_schema_of<schemas::find_request>()},
        {"group", json_schema_of<schemas::group>()},
        {"model_version", json_schema_of<schemas::model_version>()},
        {"promotion", json_schema_of<schemas::promotion>()},
        {"registered_model", json_schema_of<schemas::registered_model>()},
        {"review_transition", json_schema_of<schemas::commands::review_transition>()},
        {"webhook", json_schema_of<schemas::webhook>()},
    };
}

std::string reference(std::string_view name) {
    return object_writer().text("$ref", "#/components/schemas/" + std::string(name)).finish();
}

std::string content(std::string_view schema) {
    const std::string media = object_writer().raw("schema", reference(schema)).finish();
    return object_writer().raw("application/json", media).finish();
}

std::string parameter(std::string_view name) {
    return object_writer()
        .text("name", name)
        .text("in", "path")
        .flag("required", true)
        .raw("schema", "{\"type\":\"string\"}")
        .finish();
}

std::string parameters_of(std::string_view pattern) {
    std::vector<std::string> names;
    for (std::size_t open = pattern.find('{'); open != std::string_view::npos;
         open = pattern.find('{', open + 1))
        names.emplace_back(pattern.substr(open + 1, pattern.find('}', open) - open - 1));
    return schemas::json_list(names, [](const std::string& name) { return parameter(name); });
}

std::string response(std::string_view description, std::string_view schema) {
    return object_writer().text("description", description).raw("content", content(schema)).finish();
}

std::string operation(const route& row) {
    object_writer out;
    std::string tag;
    runtime::append_json_string(tag, row.tag);
    out.text("summary", row.summary)
        .raw("tags", "[" + tag + "]")
        .raw("parameters", parameters_of(row.pattern));
    if (!row.request_schema.empty())
        out.raw("requestBody", object_writer().raw("content", content(row.request_schema)).finish());
    out.raw("responses", object_writer()
                             .raw("200", response("Success", row.response_schema))
                             .raw("default", response("Failure", "error"))
                             .finish());
    return out.finish();
}

constexpr std::string_view description =
    "An answer that carries `svc-registry-stale: true` is made from a state that may be old, because the log "
    "could "
    "not be asked in time: newer writes may be missing in it. 503 to a write without an Idempotency-Key says "
    "that "
    "nothing took effect; `Retry-After` says when to try again. 500 \"outcome unknown\": the write was sent "
    "and may "
    "take effect, read back first. With an Idempotency-Key a repeat is always safe.";
constexpr std::string_view error_schema =
    R"({"type":"object","properties":{"error":{"type":"string"},"code":{"type":"integer"},"message":{"type":"string"},"details":{"type":"array"}}})";
constexpr std::string_view security_schemes =
    R"({"email":{"type":"apiKey","in":"header","name":"Grpc-Metadata-email"},"developer_key":{"type":"apiKey","in":"header","name":"Grpc-Metadata-developer_key"}})";

}  // namespace

std::string openapi_document(std::span<const route> routes) {
    std::map<std::string_view, object_writer> paths;
    std::set<std::string_view> named;
    for (const route& row : routes) {
        paths[row.pattern].raw(runtime::to_lower(name_of(row.method)), operation(row));
        if (!row.request_schema.empty()) named.insert(row.request_schema);
        named.insert(row.response_schema);
    }
    object_writer path_items;
    for (auto& [pattern, operations] : paths) path_items.raw(pattern, operations.finish());
    const auto described = components();
    object_writer schemas_out;
    for (const std::string_view name : named) {
        const auto known = described.find(name);
        schemas_out.raw(name,
                        known != described.end() ? std::string_view(known->second) : "{\"type\":\"object\"}");
    }
    schemas_out.raw("error", error_schema);
    return object_writer()
        .text("openapi", "3.1.0")
        .raw("info", object_writer()
                         .text("title", "Herald")
                         .text("version", HERALD_VERSION)
                         .text("description", description)
                         .finish())
        .raw("security", "[{\"email\":[],\"developer_key\":[]}]")
        .raw("paths", path_items.finish())
        .raw("components", object_writer()
                               .raw("schemas", schemas_out.finish())
                               .raw("securitySchemes", security_schemes)
                               .finish())
        .finish();
}

}  // namespace herald::api
