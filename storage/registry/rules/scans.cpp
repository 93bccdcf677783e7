// Vulnerability scans of builds: requested here, done elsewhere, then reported (wire.md §4, spec.md §6.4).
#include "storage/registry/tables/scans.hpp"

#include <algorithm>

#include "schemas/json.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/emission/report_paths.hpp"
#include "storage/registry/emission/resource_events.hpp"
#include "storage/registry/find/builds.hpp"
#include "storage/registry/rules/building.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/endpoint_updates.hpp"
#include "storage/registry/rules/history.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/rules/scanning.hpp"
#include "storage/registry/tables/builds.hpp"
#include "storage/registry/tables/nodes.hpp"
#include "storage/registry/tables/stages.hpp"

namespace herald::storage::registry::rules {
namespace {

using access::placed;
using emission::event_draft;
using find::newest_scan;
using schemas::build;
using schemas::build_status;
using schemas::safety_status;
using schemas::scan;
using schemas::scan_status;

std::string number_text(std::uint64_t number) {
    std::string text;
    schemas::append_big_endian(text, number);
    return text;
}

/// The build that a path names. Errors: not_found when it is not in that workspace.
result<placed<build>> build_in_path(const rule_context& context, std::string_view workspace,
                                    schemas::build_id id) {
    return access::readable_build_in_path(context.state, context.principal(), workspace, id);
}

/// A scanner needs no right to build, nor does who may build say what a scan has found. Errors:
/// permission_denied.
result<void> require_reporting(const rule_context& context, const schemas::workspace& workspace) {
    if (access::may_report_scans(context.state, context.principal(), workspace)) return {};
    return runtime::permission_denied(
        {"reporting a scan needs the role Scanner, or the permission UPDATE on REGISTERED_MODEL, in the "
         "workspace \"",
         workspace.name, "\""});
}

std::string request_scan_body(const rule_context& context, const event_draft& draft, const build& subject) {
    const std::string updated = schemas::object_writer()
                                    .number("buildID", subject.id.value)
                                    .text("imageurl", subject.location)
                                    .finish();
    return emission::event_envelope(context, draft, {}, updated);
}

constexpr std::string_view waiting_text =
    "the build is being made; the scan is requested once it is finished";

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

/// The version's builds in its own workspace: only there a scan counts for the version's policies.
struct own_builds {
    std::optional<build> finished;  // the newest that is
    std::optional<build> newest;
};

own_builds own_builds_of(const rule_context& context, const schemas::model_version& version) {
    std::vector<schemas::build_id> ids;
    tables::builds::each_of(context.state, version.id, version.workspace_id, {}, [&](schemas::build_id id) {
        ids.push_back(id);
        return true;
    });
    own_builds found;
    for (auto id = ids.rbegin(); id != ids.rend() && !found.finished; ++id) {
        auto row = tables::builds::find(context.state, *id);
        if (!row) throw state::state_corrupt{"an index entry without a row"};
        if (!found.newest) found.newest = row;
        if (row->status == build_status::finished) found.finished = std::move(row);
    }
    return found;
}

/// What the build's record says of its newest scan, for its events.
void show(build& row, const scan& newest) {
    row.scan_id = newest.id;
    row.scan_status = newest.scan_status;
    row.safety_status = newest.safety_status;
}

/// Writes the changed build, and tells of it.
void tell_updated(rule_context& context, const build& before, const build& after) {
    tables::builds::update(context.state, before, after);
    emission::emit_updated(context, schemas::resource_type::build, after.id.value, after.workspace_id, before,
                           after);
}

/// Whether the request that began the scan can no longer arrive anywhere: a new one may be made at once.
bool is_lost(const scan& asked) {
    return asked.scan_status == scan_status::scanning && !asked.waits_for_build &&
           std::ranges::all_of(asked.audience, [](const schemas::scan_listener& each) {
               return each.ended != schemas::delivery_end::none;
           });
}

/// Why a lost scan is lost.
std::string loss_text(const scan& lost) {
    constexpr std::string_view advice = "; report the result, or request the scan again";
    if (lost.event_id.empty())
        return "nobody was asked to scan the build: the feature flag scan_events is off" +
               std::string(advice);
    if (lost.audience.empty())
        return "nobody was asked to scan the build: no webhook of the workspace hears REQUEST_SCAN" +
               std::string(advice);
    std::string text = "REQUEST_SCAN can no longer arrive:";
    std::size_t shown = 0;
    for (const schemas::scan_listener& each : lost.audience) {
        if (++shown > limits::listeners_named_max) break;
        text += (shown > 1 ? ", webhook " : " webhook ") + std::to_string(each.webhook_id.value) + " " +
                std::string(name_of(each.ended));
    }
    if (lost.audience.size() > limits::listeners_named_max)
        text += " and " + std::to_string(lost.audience.size() - limits::listeners_named_max) + " more";
    return text + std::string(advice);
}

void tell_if_lost(scan& asked) {
    if (is_lost(asked)) asked.message += (asked.message.empty() ? "" : "; ") + loss_text(asked);
}

/// REQUEST_SCAN, unless it is switched off. The scan's record keeps who is to hear it.
void tell_scanners(rule_context& context, const build& subject, scan& asked) {
    if (!is_flag_on(context.state, flag_name::scan_events)) return;
    asked.event_id = context.new_event_id();
    constexpr auto type = schemas::event_type::request_scan;
    const std::string workspace = access::workspace_of(context.state, subject.workspace_id).name;
    event_draft draft{type,
                      schemas::kind_of(type).resource,
                      std::to_string(subject.id.value),
                      subject.workspace_id,
                      asked.event_id,
                      [&](const event_draft& made) { return request_scan_body(context, made, subject); },
                      emission::path_of_scan_report(workspace, subject.id),
                      asked.waits_for_build ? subject.base_url : std::string()};
    for (const schemas::audience_member& each : emission::emit_to_all(context, std::move(draft)))
        asked.audience.push_back(
            {each.webhook_id, each.held ? schemas::delivery_end::held : schemas::delivery_end::none});
}

/// The lost scan ends; it stays in the build's history.
void end_lost(rule_context& context, const scan& lost) {
    cancel_deadline(context, lost);
    scan ended = lost;
    ended.scan_status = scan_status::error;
    ended.time_updated = context.stamp_ms();
    tables::scans::update(context.state, lost, ended);
}

/// Errors: failed_precondition when the build is neither finished nor being made, or is being scanned;
/// invalid_argument.
answer start_scan(rule_context& context, const build& subject, const schemas::json_text& creator_request) {
    if (const auto good = check_text("the request", creator_request.text, limits::creator_request_bytes_max);
        !good)
        return good.error();
    const bool is_made = subject.status == build_status::finished;
    if (!is_made && subject.status != build_status::building)
        return runtime::failed_precondition(status_text(subject));
    const auto before = newest_scan(context.state, subject);
    if (before && before->scan_status == scan_status::scanning && !is_lost(*before))
        return runtime::failed_precondition({"scan ", before->id.value, " of build ", subject.id.value,
                                             " is running; report its result or wait for it"});
    if (before && is_lost(*before)) end_lost(context, *before);
    scan fresh = new_scan(context, subject);
    fresh.scan_status = scan_status::scanning;
    fresh.creator_request = creator_request;
    fresh.requested_by = context.principal();
    if (is_made) {
        tell_scanners(context, subject, fresh);
        tell_if_lost(fresh);
    } else {
        fresh.waits_for_build = true;
        fresh.message = std::string(waiting_text);
    }
    context.set_timer(fresh.time_created + limits::scan_deadline_ms, timer_kind::scan_deadline,
                      number_text(fresh.id.value));
    tables::scans::put(context.state, fresh);
    build scanned = subject;
    show(scanned, fresh);
    scanned.time_updated = fresh.time_updated;
    tell_updated(context, subject, scanned);
    return schemas::encode(fresh);
}

/// Also a report that says error and unsafe: the build was called unsafe.
bool says_unsafe(const schemas::commands::report_scan& report) {
    return report.safety_status == safety_status::unsafe;
}

/// Whether what is known of the scan is final, but for an unsafe report. What was found unsafe never becomes
/// anything else.
bool is_final(const scan& kept) {
    return kept.scan_status == scan_status::scanned || kept.safety_status == safety_status::unsafe;
}

bool is_same_report(const scan& kept, const schemas::commands::report_scan& report) {
    return kept.scan_status == report.scan_status && kept.safety_status == report.safety_status &&
           kept.url == report.url;
}

result<void> check_report(const schemas::commands::report_scan& report) {
    if (report.scan_status != scan_status::scanned && report.scan_status != scan_status::error)
        return runtime::invalid_argument(
            {"scan_status is ", name_of(report.scan_status), "; a report must say scanned or error"});
    if (report.scan_status == scan_status::scanned && report.safety_status == safety_status::unknown)
        return runtime::invalid_argument(
            "scan_external_results.safety_status is missing; it must be safe or unsafe");
    if (report.url.empty()) return {};
    if (const auto good = check_url("scan_external_results.url", report.url); !good) return good;
    return check_host("scan_external_results.url", report.url);
}

/// The workspace's policy `scan_by_others`: nobody says of their own build, or in answer to their own
/// request, that it is safe. Errors: permission_denied.
result<void> check_reporter(const rule_context& context, const placed<build>& found,
                            const std::optional<scan>& kept, safety_status said) {
    if (said != safety_status::safe || !found.workspace.policies.scan_by_others) return {};
    const bool is_maker = found.row.created_by == context.principal();
    const bool has_asked = kept && kept->requested_by == context.principal();
    if (!is_maker && !has_asked) return {};
    return runtime::permission_denied(
        {"build ", found.row.id.value,
         " must be reported safe by somebody who neither created it nor requested this scan: the workspace "
         "\"",
         found.workspace.name, "\" has the policy scan_by_others; an unsafe report is always accepted"});
}

/// Stores the report in the scan. If nobody had requested a scan, it becomes the build's newest.
answer keep_report(rule_context& context, const build& before, scan told,
                   const schemas::commands::report_scan& report) {
    build after = before;
    // Also for a report that says error and unsafe: the build was called unsafe.
    if (report.safety_status == safety_status::unsafe && !after.unsafe_scan_id) {
        after.unsafe_scan_id = told.id;
        after.unsafe_offset = context.offset();
    }
    told.scan_status = report.scan_status;
    told.safety_status = report.safety_status;
    told.url = report.url;
    told.message = message_of(after, told.safety_status);
    after.time_updated = told.time_updated = context.stamp_ms();
    show(after, told);
    tables::scans::put(context.state, told);
    tell_updated(context, before, after);
    if (after.unsafe_scan_id && !before.unsafe_scan_id) follow_build(context, after);
    return schemas::encode(told);
}

result<build> add_build_to_scan(rule_context& context, const schemas::workspace& workspace,
                                const schemas::model_version& version,
                                const schemas::commands::request_version_scan& command) {
    schemas::commands::create_build asked;
    asked.scan_external = true;
    asked.creator_request = command.creator_request;
    return add_build(context, workspace, version, asked);
}

/// The answer when the build cannot be scanned.
scan no_scan_of(const rule_context& context, const build& subject) {
    scan none = find::scan_to_show(context.state, subject);
    none.message = status_text(subject) + "; no scan was requested";
    return none;
}

}  // namespace

/// Errors: not_found; permission_denied; failed_precondition.
answer apply(rule_context& context, const schemas::commands::request_scan& command) {
    const auto found = build_in_path(context, command.workspace_name, command.build_id);
    if (!found) return found.error();
    if (const auto may = require_building(context, found->workspace); !may) return may.error();
    return start_scan(context, found->row, command.creator_request);
}

/// Scans the newest finished build in the version's workspace; if there is none, makes one. If making it ends
/// in error, the answer is its unscanned state with the reason, which is kept in the version's history, too,
/// and nothing is requested. What could not be made once is not made again, unless Herald can make it of the
/// model that is there now. Errors: not_found;
/// permission_denied; those of add_build and start_scan.
answer apply(rule_context& context, const schemas::commands::request_version_scan& command) {
    const auto version =
        access::readable_version(context.state, context.principal(), command.model_version_id);
    if (!version) return version.error();
    if (const auto may = require_building(context, version->workspace); !may) return may.error();
    const own_builds known = own_builds_of(context, version->row);
    if (known.finished) return start_scan(context, *known.finished, command.creator_request);
    if (known.newest && known.newest->status == build_status::building)
        return start_scan(context, *known.newest, command.creator_request);
    if (known.newest && known.newest->location.empty() && !can_be_built(context, version->row))
        return schemas::encode(no_scan_of(context, *known.newest));
    const auto made = add_build_to_scan(context, version->workspace, version->row, command);
    if (!made) return made.error();
    if (made->status != build_status::error) return start_scan(context, *made, command.creator_request);
    const scan none = no_scan_of(context, *made);
    schemas::activity told = new_activity(context, version->row.id, context.principal(), {});
    told.message = none.message;
    tables::activities::put(context.state, told);
    return schemas::encode(none);
}

/// Errors: not_found; permission_denied; invalid_argument; failed_precondition when no scan was requested,
/// unless the report says unsafe, which is accepted in any state; aborted when a finished scan would
/// change silently (a build may become unsafe at any time, never safe).
answer apply(rule_context& context, const schemas::commands::report_scan& command) {
    const auto found = build_in_path(context, command.workspace_name, command.build_id);
    if (!found) return found.error();
    if (const auto may = require_reporting(context, found->workspace); !may) return may.error();
    if (const auto good = check_report(command); !good) return good.error();
    auto kept = newest_scan(context.state, found->row);
    if (!kept && !says_unsafe(command))
        return runtime::failed_precondition(
            {"build ", command.build_id.value,
             " is unscanned; request a scan first: until then only a report that says scanned and unsafe is "
             "taken"});
    if (kept && kept->waits_for_build && !says_unsafe(command))
        return runtime::failed_precondition(
            {"build ", command.build_id.value,
             " is being made, and its scan is not requested yet; until then only a report that says scanned "
             "and unsafe is taken"});
    if (kept && is_same_report(*kept, command)) return schemas::encode(*kept);
    if (kept && is_final(*kept) && !says_unsafe(command))
        return runtime::aborted({"scan ", kept->id.value, " is finished as ", name_of(kept->safety_status),
                                 "; only an unsafe report can still change it: request a new scan"});
    if (const auto may = check_reporter(context, *found, kept, command.safety_status); !may)
        return may.error();
    if (kept && kept->scan_status == scan_status::scanning) cancel_deadline(context, *kept);
    return keep_report(context, found->row, kept ? *std::move(kept) : new_scan(context, found->row), command);
}

/// Of a scan that has ended, or was requested again, nothing changes. Errors: aborted when the sender no
/// longer holds the job.
answer apply(rule_context& context, const schemas::commands::delivery_ended& command) {
    const auto claim = tables::claims::find(context.state, schemas::job_name(schemas::job::webhook_health));
    if (!claim || claim->token != command.token)
        return runtime::aborted("the job webhook-health has another holder");
    const auto subject = tables::builds::find(context.state, command.build_id);
    const auto kept = subject ? newest_scan(context.state, *subject) : std::nullopt;
    if (!kept || kept->event_id != command.event_id || kept->scan_status != scan_status::scanning)
        return std::string();
    scan after = *kept;
    for (schemas::scan_listener& each : after.audience)
        if (each.webhook_id == command.webhook_id && each.ended == schemas::delivery_end::none)
            each.ended = command.ended;
    if (is_lost(*kept) || schemas::encode(after) == schemas::encode(*kept)) return std::string();
    tell_if_lost(after);
    after.time_updated = context.stamp_ms();
    tables::scans::update(context.state, *kept, after);
    return std::string();
}

void begin_waiting_scan(rule_context& context, const build& made) {
    const auto kept = newest_scan(context.state, made);
    if (!kept || !kept->waits_for_build) return;
    scan asked = *kept;
    tell_scanners(context, made, asked);
    asked.waits_for_build = false;
    asked.message = message_of(made, asked.safety_status);
    tell_if_lost(asked);
    asked.time_updated = context.stamp_ms();
    tables::scans::update(context.state, *kept, asked);
}

void end_waiting_scan(rule_context& context, const build& failed) {
    const auto kept = newest_scan(context.state, failed);
    if (!kept || !kept->waits_for_build) return;
    scan ended = *kept;
    const std::string why = status_text(failed) + "; no scan was requested";
    ended.waits_for_build = false;
    if (ended.scan_status == scan_status::scanning) {
        cancel_deadline(context, ended);
        ended.scan_status = scan_status::error;
        ended.message = why;
    }
    ended.time_updated = context.stamp_ms();
    tables::scans::update(context.state, *kept, ended);
    build shown = failed;
    show(shown, ended);
    tell_updated(context, failed, shown);
    schemas::activity told = new_activity(context, failed.model_version_id, ended.requested_by, {});
    told.message = why;
    tables::activities::put(context.state, told);
}

void cancel_deadline(rule_context& context, const scan& running) {
    context.cancel_timer(running.time_created + limits::scan_deadline_ms, timer_kind::scan_deadline,
                         number_text(running.id.value));
}

/// No report came in time: the scan ends in error. A later report is still accepted. The build's UPDATE tells
/// of it, as of a report.
void fire_scan_deadline(rule_context& context, std::string_view key) {
    const auto running = tables::scans::find(context.state, schemas::scan_id{schemas::read_big_endian(key)});
    if (!running || running->scan_status != scan_status::scanning) return;
    scan late = *running;
    late.scan_status = scan_status::error;
    late.message = "no report came within 24 h";
    late.time_updated = context.stamp_ms();
    if (const auto subject = tables::builds::find(context.state, running->build_id)) {
        const std::string ineligible = message_of(*subject, late.safety_status);
        if (!ineligible.empty()) late.message += "; " + ineligible;
        build after = *subject;
        after.time_updated = late.time_updated;
        show(after, late);
        tell_updated(context, *subject, after);
    }
    tables::scans::update(context.state, *running, late);
}

runner runner_of(schemas::commands::command_type type, schemas::commands::scan_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
