// Vulnerability scans of builds (wire.md §4, spec.md §4.4).
#include "api/deployment/handlers.hpp"
#include "runtime/limits.hpp"
#include "schemas/views.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/scan_status.hpp"

namespace herald::api::deployment {
namespace {

using calls::call;
using calls::response;
using schemas::build;
using schemas::scan;

constexpr std::size_t history_max = 100;

struct request_scan_body {
    std::optional<bool> scan_external;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "scan_external", self.scan_external);
    }
};

struct scan_results_body {
    schemas::safety_status safety_status = schemas::safety_status::unknown;
    std::string url;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "safety_status", self.safety_status);
        field(2, "url", self.url);
    }
};

/// PUT …/scan {scan_external_results {safety_status, url}, scan_status}.
struct report_body {
    std::optional<scan_results_body> scan_external_results;
    schemas::scan_status scan_status = schemas::scan_status::unscanned;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "scan_external_results", self.scan_external_results);
        field(2, "scan_status", self.scan_status);
    }
};

/// Herald scans nothing itself: a request names an external scanner.
result<schemas::json_text> checked_request(call& call) {
    const auto body = call.json();
    if (!body) return body.error();
    const auto request = call.body_as<request_scan_body>(*body);
    if (!request) return request.error();
    if (request->scan_external && !*request->scan_external)
        return runtime::invalid_argument(
            "scan_external is false; it must be true: scans are done by an external scanner");
    return schemas::json_text{schemas::to_json_text(*body)};
}

template <class Command>
response answer_scan(call& call, Command command) {
    const auto outcome = co_await call.submit(std::move(command));
    if (!outcome) co_return outcome.error();
    const auto written = schemas::decode<scan>(outcome->body);
    if (!written) co_return written.error();
    const std::vector<scan> no_history;
    co_return call.answer(*outcome, schemas::view_of(build{}, *written, no_history));
}

}  // namespace

response request_scan(call& call) {
    auto request = checked_request(call);
    if (!request) co_return request.error();
    const auto id = call.path_id<schemas::build_id>("build");
    if (!id) co_return id.error();
    schemas::commands::request_scan command;
    command.workspace_name = call.path("workspace");
    command.build_id = *id;
    command.creator_request = *std::move(request);
    co_return co_await answer_scan(call, std::move(command));
}

response request_version_scan(call& call) {
    auto request = checked_request(call);
    if (!request) co_return request.error();
    const auto id = call.path_id<schemas::version_id>("version");
    if (!id) co_return id.error();
    schemas::commands::request_version_scan command;
    command.model_version_id = *id;
    command.creator_request = *std::move(request);
    co_return co_await answer_scan(call, std::move(command));
}

response report_scan(call& call) {
    const auto body = call.body<report_body>();
    if (!body) co_return body.error();
    const auto id = call.path_id<schemas::build_id>("build");
    if (!id) co_return id.error();
    schemas::commands::report_scan command;
    command.workspace_name = call.path("workspace");
    command.build_id = *id;
    command.scan_status = body->scan_status;
    if (body->scan_external_results) {
        command.safety_status = body->scan_external_results->safety_status;
        command.url = body->scan_external_results->url;
    }
    co_return co_await answer_scan(call, std::move(command));
}

calls::answered get_scan(call& call) {
    const auto id = call.path_id<schemas::build_id>("build");
    if (!id) return id.error();
    const storage::registry::state::state_view& state = call.state();
    const auto found = storage::registry::access::readable_build(state, call.user().id, *id);
    if (!found) return found.error();
    const scan newest = storage::registry::find::newest_scan(state, found->row).value_or(scan());
    const std::vector<scan> history = storage::registry::find::older_scans(state, found->row, history_max);
    return call.answer(schemas::view_of(found->row, newest, history));
}

}  // namespace herald::api::deployment
