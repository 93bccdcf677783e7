#include "api/predictions/routing.hpp"

#include <algorithm>

#include "api/predictions/limits.hpp"
#include "runtime/crypto.hpp"

namespace herald::api::predictions {
namespace {

using serving::component_route;
using serving::endpoint_route;
using serving::route_table;
using serving::stage_route;

constexpr std::string_view token_header = "access-token";

std::string build_text(const component_route& component) {
    return "build " + std::to_string(component.build.value);
}

error bad_token(const endpoint_route& of) {
    return runtime::unauthenticated(
        {"the Access-token is not valid for the endpoint ", of.path, ": it is unknown, deleted or expired"});
}

error unknown_name(const prediction_path& path) {
    const std::string name(path.name);
    return runtime::not_found(is_of_v2(path.what) ? "there is no model named " + name
                                                  : "there is no endpoint " + name);
}

/// A caller that names a version gets it, whatever its share. Null: no component has it.
const component_route* component_of(const stage_route& stage, const runtime::http::server::request& received,
                                    const prediction_path& path) {
    const component_route* const chosen = stage.component_for(received.request_id);
    const auto is_meant = [&](const component_route& each) {
        return path.version.empty() || path.version == std::to_string(each.version_number);
    };
    if (!chosen || is_meant(*chosen)) return chosen;
    const auto found = std::ranges::find_if(stage.components, is_meant);
    return found == stage.components.end() ? nullptr : &*found;
}

error unknown_version(const stage_route& stage, const prediction_path& path) {
    std::string served;
    for (const component_route& each : stage.components)
        served += (served.empty() ? "" : ", ") + std::to_string(each.version_number);
    return runtime::not_found(
        {"version ", path.version, " of the model ", path.name, " is not served; served: ", served});
}

error unsafe_build(schemas::build_id build, schemas::scan_id scan) {
    return runtime::permission_denied(
        {"scan ", scan.value, " reported build ", build.value,
         " unsafe: it is no longer served; update the endpoint to another build"});
}

error without_lease(const serving::serving_gate& gate) {
    if (gate.is_closed()) return runtime::unavailable("this node is shutting down; retry on another node");
    return runtime::unavailable(
        "this node has been cut off from the log for too long to know whether the build is safe; retry on "
        "another node");
}

/// Why the component cannot answer; empty while it can.
std::optional<error> trouble_of(const component_route& component) {
    if (const auto scan = component.safety->unsafe_scan()) return unsafe_build(component.build, scan);
    if (component.served->model()) return std::nullopt;
    const std::string why = component.served->why_not_loaded();
    return runtime::unavailable({build_text(component), " is not loaded on this node yet",
                                 (why.empty() ? "; try again" : ": " + why)});
}

/// Not a 503: retrying cannot help, somebody must deploy first.
error nothing_deployed(const endpoint_route& endpoint, const stage_route& stage) {
    std::string why = "nothing has been deployed to the stage \"" + stage.name + "\" of the endpoint " +
                      endpoint.path + " yet";
    if (!stage.failure.empty()) why += "; its newest update failed: " + stage.failure;
    return runtime::failed_precondition(std::move(why));
}

}  // namespace

std::variant<routed, unrouted> route(serving::route_book& book, const serving::serving_gate& gate,
                                     const runtime::http::server::request& received,
                                     const prediction_path& path) {
    if (!book.is_known())
        return unrouted{runtime::unavailable("this node has not read the whole log yet; try again"), {}};
    if (!gate.has_lease()) return unrouted{without_lease(gate), {}};
    const route_table& table = book.on_loop(received.loop_index);
    const route_table::entry* const found =
        is_of_v2(path.what) ? table.find_v2(path.name) : table.find(path.name);
    if (!found) return unrouted{unknown_name(path), {}, nullptr, true};
    const endpoint_route& endpoint = **found;
    const auto token = received.header(token_header);
    if (!token || token->empty())
        return unrouted{
            runtime::unauthenticated({"the header Access-token is missing; it must hold a token of the "
                                      "endpoint ",
                                      endpoint.path}),
            *found};
    if (token->size() > limits::access_token_sent_bytes_max) return unrouted{bad_token(endpoint), *found};
    const runtime::sha256_digest hash = runtime::sha256(*token);
    const stage_route* const stage = endpoint.stage_of(hash);
    if (!stage && table.has_token(hash))
        return unrouted{
            runtime::permission_denied({"the token belongs to another endpoint, not to ", endpoint.path}),
            *found, nullptr, true};
    if (!stage) return unrouted{bad_token(endpoint), *found, nullptr, true};
    if (stage->components.empty()) return unrouted{nothing_deployed(endpoint, *stage), *found, nullptr, true};
    const component_route* const component = component_of(*stage, received, path);
    if (!component) return unrouted{unknown_version(*stage, path), *found, nullptr, true};
    if (auto trouble = trouble_of(*component)) {
        const bool is_unsafe = trouble->code == error_code::permission_denied;
        return unrouted{*std::move(trouble), *found, component, is_unsafe};
    }
    return routed{*found, component};
}

std::optional<error> second_look(const serving::serving_gate& gate, const component_route& component) {
    if (const auto scan = component.safety->unsafe_scan()) return unsafe_build(component.build, scan);
    if (!gate.has_lease()) return without_lease(gate);
    return std::nullopt;
}

}  // namespace herald::api::predictions
