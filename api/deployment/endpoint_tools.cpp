// Routes for tools around endpoints: the manifest of an update, and a check for reference data
// (client_calls.md §6).
#include <algorithm>

#include "api/calls/rows.hpp"
#include "api/deployment/endpoint_paths.hpp"
#include "api/deployment/routes.hpp"
#include "schemas/answers/endpoint_records.hpp"
#include "schemas/limits.hpp"
#include "schemas/requests/endpoints.hpp"
#include "storage/registry/find/endpoints.hpp"

namespace herald::api::deployment {
namespace {

using namespace calls::rows;
namespace access = storage::registry::access;
namespace find = storage::registry::find;
using schemas::object_writer;

/// The variables as they came. Errors: invalid_argument for anything but a list of them.
result<std::string> variables_of(const schemas::json_text& update) {
    if (update.text.empty()) return std::string("[]");
    const auto json = schemas::parse_json(update.text);
    if (!json) return json.error();
    if (!json->get_if<schemas::json_object>())
        return runtime::invalid_argument(
            {"update is ", json->kind_text(), "; it must be an object, the body of an update"});
    const schemas::json_value* variables = json->find("env");
    if (!variables || variables->is_null()) return std::string("[]");
    const auto* list = variables->get_if<schemas::json_array>();
    const auto is_variable = [](const schemas::json_value& one) {
        const schemas::json_value* name = one.find("name");
        return name && name->get_if<std::string>();
    };
    if (!list || !std::ranges::all_of(*list, is_variable))
        return runtime::invalid_argument("update.env must be a list of objects with name and value");
    return schemas::to_json_text(*variables);
}

/// {"spec":{"template":{…}}}: names one in the other, the last one with this value.
std::string nested(std::initializer_list<std::string_view> names, std::string value) {
    for (auto name = std::rbegin(names); name != std::rend(names); ++name)
        value = object_writer().raw(*name, value).finish();
    return value;
}

result<void> check_length(std::string_view field, std::string_view value, std::size_t bytes_max) {
    if (value.size() <= bytes_max) return {};
    return runtime::invalid_argument(
        {field, " is ", value.size(), " bytes long; it must be at most ", bytes_max, " bytes"});
}

answered make_manifest(reading_call& call, requests::operations_manifest body) {
    const auto variables = variables_of(body.update);
    if (!variables) return variables.error();
    if (const auto good = check_length("name", body.name, limits::name_bytes_max); !good) return good.error();
    if (const auto good = check_length("endpoint.path", body.endpoint->path, limits::endpoint_path_bytes_max);
        !good)
        return good.error();
    if (!body.workspace_name.empty()) {
        const auto workspace = access::workspace_in_path(call.state(), body.workspace_name);
        if (!workspace || !access::is_visible(call.state(), call.user().id, *workspace))
            return runtime::not_found({"workspace \"", body.workspace_name, "\" not found"});
    }
    const std::string container = object_writer().text("name", "model").raw("env", *variables).finish();
    object_writer spec;
    spec.raw("endpoint", object_writer().text("path", body.endpoint->path).finish());
    spec.raw("update", body.update.text.empty() ? "{}" : body.update.text);
    spec.raw("function", nested({"spec", "templates", "deployment", "spec", "template", "spec", "containers"},
                                "[" + container + "]"));
    answers::operations_manifest answer;
    answer.kind = "Endpoint";
    answer.metadata.text =
        object_writer().text("name", body.name).text("workspace", body.workspace_name).finish();
    answer.spec.text = spec.finish();
    return call.answer(answer);
}

/// Herald keeps no second copy of reference data: it says whether the endpoint serves a version that has
/// some.
answered ingest_reference(reading_call& call, requests::ingest_reference) {
    const auto id = endpoint_in_path(call);
    if (!id) return id.error();
    const auto found = access::readable_endpoint(call.state(), call.user().id, *id);
    if (!found) return found.error();
    if (const auto may = access::require_deploying(call.state(), call.user().id, found->workspace); !may)
        return may.error();
    if (find::serves_artifact(call.state(), *id, "reference_data")) return call.answer(answers::done());
    return runtime::failed_precondition({"the endpoint ", found->row.path,
                                         " serves no version with an artifact reference_data; log one, build "
                                         "the version and update the endpoint with the build first"});
}

const calls::route endpoint_tool_table[] = {
    ask<make_manifest, answers::operations_manifest>("make_operations_manifest",
                                                     "/api/v1/deployment/operations/manifest", "endpoints",
                                                     "An update of an endpoint as a manifest for Kubernetes"),
    needing_deploy_or_update(ask<ingest_reference, answers::done>(
        "ingest_reference", "/api/v1/monitoring/ingest/reference/endpoint/{endpoint}", "endpoints",
        "Whether the endpoint serves a version with reference data")),
};

}  // namespace

std::span<const calls::route> endpoint_tool_routes() { return endpoint_tool_table; }

}  // namespace herald::api::deployment
