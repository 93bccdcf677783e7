// Vulnerability scans of builds: requested here, done elsewhere, then reported (wire.md §4, spec.md §6.4).
#include "storage/registry/tables/scans.hpp"
#include "schemas/json.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/emission/resource_events.hpp"
#include "storage/registry/find/builds.hpp"
#include "storage/registry/rules/building.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/tables/builds.hpp"

namespace herald::storage::registry::rules {
namespace {

using access::placed;
using context::rule_context;
using context::timer_kind;
using emission::event_draft;
using find::newest_scan;
using schemas::action;
using schemas::build;
using schemas::build_status;
using schemas::protected_type;
using schemas::safety_status;
using schemas::scan;
using schemas::scan_status;

std::string number_text(std::uint64_t number) {
    std::string text;
    schemas::append_big_endian(text, number);
    return text;
}

result<void> require_deploy(const rule_context& context, const schemas::workspace& workspace) {
    if (access::is_allowed(context.state, context.principal(), workspace, protected_type::endpoint,
                           action::deploy))
        return {};
    return runtime::permission_denied("scans need the permission DEPLOY on ENDPOINT in the workspace \"" +
                                      workspace.name + "\"");
}

/// Errors: not_found when the build is not in the workspace of that name; permission_denied.
result<placed<build>> build_to_scan(const rule_context& context, std::string_view workspace_name,
                                    schemas::build_id id) {
    auto found = access::readable_build(context.state, context.principal(), workspace_name, id);
    if (!found) return found.error();
    if (const auto may = require_deploy(context, found->workspace); !may) return may.error();
    return found;
}

std::string request_scan_body(const rule_context& context, const event_draft& draft, const build& subject) {
    const std::string updated = schemas::object_writer()
                                    .number("buildID", subject.id.value)
                                    .text("imageurl", subject.location)
                                    .finish();
    return emission::event_envelope(context, draft, {}, updated);
}

std::string status_text(const build& subject) {
    return "build " + std::to_string(subject.id.value) + " is in status " +
           std::string(name_of(subject.status)) + ": " + subject.message;
}

/// The message for a scan that does not say unsafe, of a build that was once reported unsafe; otherwise
/// empty.
std::string message_of(const build& subject, safety_status said) {
    if (!subject.unsafe_scan_id || said == safety_status::unsafe) return {};
    return "scan " + std::to_string(subject.unsafe_scan_id.value) + " reported build " +
           std::to_string(subject.id.value) +
           " unsafe: it stays ineligible, whatever this scan says; create a new build";
}

/// A new scan of the build, not yet written; its id is assigned.
scan new_scan(rule_context& context, const build& subject) {
    scan fresh;
    fresh.id = context.next_id<schemas::scan_id>("scan");
    fresh.build_id = subject.id;
    fresh.time_created = fresh.time_updated = context.stamp_ms();
    fresh.message = message_of(subject, fresh.safety_status);
    return fresh;
}

/// Errors: failed_precondition when the build is not finished or is being scanned; invalid_argument.
answer start_scan(rule_context& context, const build& subject, const schemas::json_text& creator_request) {
    if (const auto good = check_text("the request", creator_request.text, limits::creator_request_bytes_max);
        !good)
        return good.error();
    if (subject.status != build_status::finished) return runtime::failed_precondition(status_text(subject));
    const auto before = newest_scan(context.state, subject);
    if (before && before->scan_status == scan_status::scanning)
        return runtime::failed_precondition("scan " + std::to_string(before->id.value) + " of build " +
                                            std::to_string(subject.id.value) +
                                            " is running; report its result or wait for it");
    scan fresh = new_scan(context, subject);
    fresh.scan_status = scan_status::scanning;
    fresh.creator_request = creator_request;
    fresh.requested_by = context.principal();
    if (is_flag_on(context.state, flag_name::scan_events)) {
        fresh.event_id = context.new_event_id();
        constexpr auto type = schemas::event_type::request_scan;
        emission::emit(context, {type, schemas::kind_of(type).resource, std::to_string(subject.id.value),
                                 subject.workspace_id, fresh.event_id, [&](const event_draft& draft) {
                                     return request_scan_body(context, draft, subject);
                                 }});
    }
    context.set_timer(fresh.time_created + limits::scan_deadline_ms, timer_kind::scan_deadline,
                      number_text(fresh.id.value));
    build scanned = subject;
    scanned.scan_id = fresh.id;
    tables::builds::update(context.state, subject, scanned);
    tables::scans::put(context.state, fresh);
    return schemas::encode(fresh);
}

bool says_unsafe(const schemas::commands::report_scan& report) {
    return report.scan_status == scan_status::scanned && report.safety_status == safety_status::unsafe;
}

bool is_same_report(const scan& kept, const schemas::commands::report_scan& report) {
    return kept.scan_status == report.scan_status && kept.safety_status == report.safety_status &&
           kept.url == report.url;
}

result<void> check_report(const schemas::commands::report_scan& report) {
    if (report.scan_status != scan_status::scanned && report.scan_status != scan_status::error)
        return runtime::invalid_argument("scan_status is " + std::string(name_of(report.scan_status)) +
                                         "; a report must say scanned or error");
    if (report.scan_status == scan_status::scanned && report.safety_status == safety_status::unknown)
        return runtime::invalid_argument(
            "scan_external_results.safety_status is missing; it must be safe or unsafe");
    if (report.url.empty()) return {};
    return check_url("scan_external_results.url", report.url);
}

/// Stores the report in the scan. If nobody had requested a scan, it becomes the build's newest.
answer keep_report(rule_context& context, const build& before, scan told,
                   const schemas::commands::report_scan& report) {
    build after = before;
    // Also for a report that says error and unsafe: the build was called unsafe.
    if (report.safety_status == safety_status::unsafe && !after.unsafe_scan_id)
        after.unsafe_scan_id = told.id;
    after.scan_id = told.id;
    told.scan_status = report.scan_status;
    told.safety_status = report.safety_status;
    told.url = report.url;
    told.message = message_of(after, told.safety_status);
    after.time_updated = told.time_updated = context.stamp_ms();
    tables::scans::put(context.state, told);
    tables::builds::update(context.state, before, after);
    emission::emit_updated(context, schemas::resource_type::build, after.id.value, after.workspace_id, before,
                           after);
    return schemas::encode(told);
}

}  // namespace

/// Errors: not_found; permission_denied; failed_precondition.
answer apply(rule_context& context, const schemas::commands::request_scan& command) {
    auto found = build_to_scan(context, command.workspace_name, command.build_id);
    if (!found) return found.error();
    return start_scan(context, found->row, command.creator_request);
}

/// Scans the newest finished build that the caller may read; if there is none, makes one. If making it ends
/// in error, the answer is its unscanned state with the reason, and nothing is requested. Errors: not_found;
/// permission_denied; those of add_build and start_scan.
answer apply(rule_context& context, const schemas::commands::request_version_scan& command) {
    const auto version =
        access::readable_version(context.state, context.principal(), command.model_version_id);
    if (!version) return version.error();
    std::optional<placed<build>> newest;
    for (const build& candidate : find::readable_builds(context.state, context.principal(), version->row.id))
        if (candidate.status == build_status::finished)
            newest = {candidate, access::workspace_of(context.state, candidate.workspace_id)};
    const schemas::workspace& workspace = newest ? newest->workspace : version->workspace;
    if (const auto may = require_deploy(context, workspace); !may) return may.error();
    if (newest) return start_scan(context, newest->row, command.creator_request);
    schemas::commands::create_build asked;
    asked.scan_external = true;
    asked.creator_request = command.creator_request;
    const auto made = add_build(context, workspace, version->row, asked);
    if (!made) return made.error();
    if (made->status == build_status::finished) return start_scan(context, *made, command.creator_request);
    scan none = find::scan_to_show(context.state, *made);
    none.message = status_text(*made) + "; no scan was requested";
    return schemas::encode(none);
}

/// Errors: not_found; permission_denied; invalid_argument; failed_precondition when no scan was requested,
/// unless the report says unsafe, which is accepted in any state; aborted when a finished scan would
/// change silently (a build may become unsafe at any time, never safe).
answer apply(rule_context& context, const schemas::commands::report_scan& command) {
    auto found = build_to_scan(context, command.workspace_name, command.build_id);
    if (!found) return found.error();
    if (const auto good = check_report(command); !good) return good.error();
    auto kept = newest_scan(context.state, found->row);
    if (!kept && !says_unsafe(command))
        return runtime::failed_precondition(
            "build " + std::to_string(command.build_id.value) +
            " is unscanned; request a scan first: until then only a report that says scanned and unsafe is "
            "taken");
    if (kept && is_same_report(*kept, command)) return schemas::encode(*kept);
    if (kept && kept->scan_status == scan_status::scanned && !says_unsafe(command))
        return runtime::aborted("scan " + std::to_string(kept->id.value) + " is finished as " +
                                std::string(name_of(kept->safety_status)) +
                                "; only an unsafe report can still change it: request a new scan");
    if (kept && kept->scan_status == scan_status::scanning)
        context.cancel_timer(kept->time_created + limits::scan_deadline_ms, timer_kind::scan_deadline,
                             number_text(kept->id.value));
    return keep_report(context, found->row, kept ? *std::move(kept) : new_scan(context, found->row), command);
}

/// No report came in time: the scan ends in error. A later report is still accepted.
void fire_scan_deadline(rule_context& context, std::string_view key) {
    const auto running = tables::scans::find(context.state, schemas::scan_id{schemas::read_big_endian(key)});
    if (!running || running->scan_status != scan_status::scanning) return;
    scan late = *running;
    late.scan_status = scan_status::error;
    late.message = "no report came within 24 h";
    late.time_updated = context.stamp_ms();
    tables::scans::update(context.state, *running, late);
}

runner runner_of(schemas::commands::command_type type, schemas::commands::scan_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
