#include "api/predictions/routing.hpp"

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

/// Why the component cannot answer; empty while it can.
std::optional<error> trouble_of(const component_route& component, const prediction_path& asked) {
    if (const auto scan = component.safety->unsafe_scan()) return unsafe_build(component.build, scan);
    if (!asked.version.empty() && asked.version != std::to_string(component.version_number))
        return runtime::not_found(
            "version " + std::string(asked.version) + " of the model " + std::string(asked.name) +
            " is not served; the one that is: " + std::to_string(component.version_number));
    if (component.served->model()) return std::nullopt;
    const std::string why = component.served->why_not_loaded();
    return runtime::unavailable(build_text(component) + " is not loaded on this node yet" +
                                (why.empty() ? "; try again" : ": " + why));
}

/// No repetition helps, as one of a 503 would say: somebody must deploy first.
error nothing_deployed(const endpoint_route& endpoint, const stage_route& stage) {
    std::string why = "nothing has been deployed to the stage \"" + stage.name + "\" of the endpoint " +
                      endpoint.path + " yet";
    if (!stage.failure.empty()) why += "; its newest update has failed with " + stage.failure;
    return runtime::failed_precondition(std::move(why));
}

}  // namespace

error unsafe_build(schemas::build_id build, schemas::scan_id scan) {
    return runtime::permission_denied(
        "scan " + std::to_string(scan.value) + " reported build " + std::to_string(build.value) +
        " unsafe: it is not served any more; update the endpoint to another build");
}

error without_lease() {
    return runtime::unavailable(
        "this node has not heard of the log for so long that a build may have been reported unsafe "
        "meanwhile; "
        "try another node");
}

std::variant<routed, unrouted> route(serving::route_book& book, const serving::serving_gate& gate,
                                     const runtime::http::server::request& received,
                                     const prediction_path& asked) {
    if (!book.is_known())
        return unrouted{runtime::unavailable("this node has not read the whole log yet; try again"), {}};
    if (!gate.has_lease()) return unrouted{without_lease(), {}};
    const route_table& table = book.on_loop(received.loop_index);
    const route_table::entry* const found =
        is_of_v2(asked.what) ? table.find_v2(asked.name) : table.find(asked.name);
    if (!found)
        return unrouted{
            runtime::not_found("no endpoint is at " + std::string(asked.name)), {}, nullptr, true};
    const endpoint_route& endpoint = **found;
    const auto token = received.header(token_header);
    if (!token || token->empty())
        return unrouted{
            runtime::unauthenticated("the header Access-Token is missing; it must hold a token of the "
                                     "endpoint " +
                                     endpoint.path),
            *found};
    if (token->size() > limits::access_token_sent_bytes_max)
        return unrouted{runtime::unauthenticated("the header Access-Token holds no token of the endpoint " +
                                                 endpoint.path),
                        *found};
    const runtime::sha256_digest hash = runtime::sha256(*token);
    const std::int64_t now_ms = book.log_time_ms();
    const stage_route* const stage = endpoint.stage_of(hash, now_ms);
    if (!stage && table.has_token(hash, now_ms))
        return unrouted{runtime::permission_denied("the token is of another endpoint than " + endpoint.path),
                        *found, nullptr, true};
    if (!stage)
        return unrouted{runtime::unauthenticated("the header Access-Token holds no token of the endpoint " +
                                                 endpoint.path + ", or one that has ended"),
                        *found, nullptr, true};
    const component_route* const component = stage->component_for(received.request_id);
    if (!component) return unrouted{nothing_deployed(endpoint, *stage), *found, nullptr, true};
    if (auto trouble = trouble_of(*component, asked)) return unrouted{*std::move(trouble), *found, component};
    return routed{*found, component};
}

}  // namespace herald::api::predictions
