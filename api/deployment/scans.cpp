// Vulnerability scans of builds (wire.md §4, spec.md §4.4).

#include "schemas/commands/scans.hpp"
#include "api/calls/rows.hpp"
#include "api/deployment/confirmations.hpp"
#include "api/deployment/limits.hpp"
#include "api/deployment/refused_value.hpp"
#include "api/deployment/routes.hpp"
#include "schemas/answers/deployment.hpp"
#include "schemas/requests/deployment.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/builds.hpp"

namespace herald::api::deployment {
namespace {

using namespace calls::rows;
using schemas::scan;
namespace access = storage::registry::access;

/// Herald itself does not scan: a request must name an external scanner. `find` gives the build to scan in a
/// state, if the caller may read it.
template <class Find>
calls::task<schemas::json_text> checked_request(writing_call& call, Find find) {
    const auto body = call.json();
    if (!body) co_return body.error();
    const auto request = call.body_as<requests::request_scan>(*body);
    if (!request) co_return request.error();
    if (request->scan_external && !*request->scan_external) {
        const auto may = [&](const auto& state) -> result<void> {
            const auto found = find(state, call.user().id);
            if (!found) return found.error();
            return access::require_building(state, call.user().id, found->workspace);
        };
        const auto repeated = co_await refuse_value(
            call,
            runtime::invalid_argument(
                "scan_external is false; it must be true: scans are done by an external scanner"),
            may);
        if (!repeated) co_return repeated.error();
    }
    schemas::json_text kept;
    kept.text = schemas::to_json_text(*body);
    co_return kept;
}

std::vector<answers::unconfirmed_node> unconfirmed_of(const reading_call& call,
                                                      const storage::registry::state::state_view& state,
                                                      schemas::build_id id) {
    const auto build = storage::registry::find::build_of(state, id);
    if (!build || !build->unsafe_scan_id) return {};
    return unconfirmed_at(call.of<services>(), state, build->unsafe_offset);
}

/// The scan with the build's scans before it; the answer says so when there may be more.
answers::scan whole(reading_call& call, const storage::registry::state::state_view& state, scan newest,
                    std::vector<answers::unconfirmed_node> unconfirmed) {
    std::vector<answers::earlier_scan> scans;
    for (scan& old :
         storage::registry::find::scans_before(state, newest.build_id, newest.id, limits::scan_history_max))
        scans.push_back(answers::of(std::move(old)));
    if (scans.size() == limits::scan_history_max)
        call.warn("history is the newest " + std::to_string(limits::scan_history_max) +
                  " of the build's earlier scans");
    return answers::of(std::move(newest), std::move(scans), std::move(unconfirmed));
}

template <class Command>
response answer_scan(writing_call& call, Command command) {
    const auto view = [&](scan written) {
        const auto now = call.with().registry.read_now(
            storage::node::freshness::applied);  // this node has applied the write
        if (!now) return answers::of(std::move(written), {});
        auto unconfirmed = unconfirmed_of(call, *now->view, written.build_id);
        return whole(call, *now->view, std::move(written), std::move(unconfirmed));
    };
    co_return co_await call.write<scan>(std::move(command), view);
}

response request_scan(writing_call& call) {
    const auto find = [&](const auto& state,
                          schemas::user_id user) -> result<access::placed<schemas::build>> {
        const auto id = call.path_id<schemas::build_id>("build");
        if (!id) return id.error();
        return access::readable_build_in_path(state, user, call.path("workspace"), *id);
    };
    auto request = co_await checked_request(call, find);
    if (!request) co_return request.error();
    const auto id = call.path_id<schemas::build_id>("build");
    if (!id) co_return id.error();
    schemas::commands::request_scan command;
    command.workspace_name = call.path("workspace");
    command.build_id = *id;
    command.creator_request = *std::move(request);
    co_return co_await answer_scan(call, std::move(command));
}

response request_version_scan(writing_call& call) {
    const auto find = [&](const auto& state,
                          schemas::user_id user) -> result<access::placed<schemas::model_version>> {
        const auto id = call.path_id<schemas::version_id>("version");
        if (!id) return id.error();
        return access::readable_version(state, user, *id);
    };
    auto request = co_await checked_request(call, find);
    if (!request) co_return request.error();
    const auto id = call.path_id<schemas::version_id>("version");
    if (!id) co_return id.error();
    schemas::commands::request_version_scan command;
    command.model_version_id = *id;
    command.creator_request = *std::move(request);
    co_return co_await answer_scan(call, std::move(command));
}

response report_scan(writing_call& call, requests::report_scan body) {
    const auto id = call.path_id<schemas::build_id>("build");
    if (!id) co_return id.error();
    schemas::commands::report_scan command;
    command.workspace_name = call.path("workspace");
    command.build_id = *id;
    command.scan_status = body.scan_status == schemas::scan_ending::error ? schemas::scan_status::error
                                                                          : schemas::scan_status::scanned;
    if (body.scan_external_results) {
        command.safety_status = body.scan_external_results->safety_status;
        command.url = body.scan_external_results->url;
    }
    const bool is_unsafe = command.safety_status == schemas::safety_status::unsafe;
    auto told = co_await call.submit(std::move(command));
    if (!told) co_return told.error();
    if (is_unsafe) co_await wait_until_confirmed<schemas::commands::report_scan>(call, told->offset);
    auto row = schemas::decode<scan>(told->body);
    if (!row) co_return row.error();
    const auto now = call.with().registry.read_now(storage::node::freshness::applied);
    // This node has failed meanwhile and no longer knows which nodes may still serve the build.
    if (!now && is_unsafe) co_return storage::node::outcome_unknown(call.has_key());
    if (!now) co_return call.answer(*told, answers::of(*std::move(row), {}));
    // By the offset of the report: the build's row may be gone meanwhile.
    auto unconfirmed = is_unsafe ? unconfirmed_at(call.of<services>(), *now->view, told->offset)
                                 : unconfirmed_of(call, *now->view, row->build_id);
    co_return call.answer(*told, whole(call, *now->view, *std::move(row), std::move(unconfirmed)));
}

answered get_scan(reading_call& call) {
    const auto id = call.path_id<schemas::build_id>("build");
    if (!id) return id.error();
    const storage::registry::state::state_view& state = call.state();
    const auto found = storage::registry::access::readable_build(state, call.user().id, *id);
    if (!found) return found.error();
    return call.answer(whole(call, state, storage::registry::find::scan_to_show(state, found->row),
                             unconfirmed_of(call, state, *id)));
}

const calls::route scan_table[] = {
    needing_deploy(write<requests::request_scan, answers::scan>(
        "request_scan", http_method::post, "/api/v1/deployment/workspace/{workspace}/builds/{build}/scan",
        request_scan, "scans", "Requests a scan: REQUEST_SCAN is sent")),
    needing_deploy(write<requests::request_scan, answers::scan>(
        "request_version_scan", http_method::post, "/api/v1/registry/model_versions/{version}/requestScan",
        request_version_scan, "scans", "Requests a scan of the version's newest finished build")),
    for_who_reports_scans(write<report_scan, answers::scan>(
        "report_scan", http_method::put, "/api/v1/deployment/workspace/{workspace}/builds/{build}/scan",
        "scans", "Reports a scan's result")),
    needing_read_of_either(read<answers::scan>("get_scan", "/api/v1/deployment/builds/{build}/scan", get_scan,
                                               "scans", "The newest scan and its history")),
};

}  // namespace

std::span<const calls::route> scan_routes() { return scan_table; }

}  // namespace herald::api::deployment
