// Of the golden log: builds and their scans.
#include "tests/unit/storage/registry/golden_story.hpp"

namespace herald::test {
namespace {

using namespace schemas::commands;
using schemas::safety_status;
using schemas::scan_status;
using std::string;

constexpr schemas::build_id of_ann{4};  // 1 to 3 are of the version 1

create_build build_command(std::uint64_t version) {
    create_build command;
    command.workspace_name = "default";
    command.model_version_id.value = version;
    command.external_location = "registry.example.org/fraud:1";
    command.creator_request.text = R"({"model_version_id":1})";
    return command;
}

request_scan scan_command(std::uint64_t build) {
    request_scan command;
    command.workspace_name = "default";
    command.build_id.value = build;
    command.creator_request.text = "{}";
    return command;
}

request_version_scan version_scan_command(std::uint64_t version) {
    request_version_scan command;
    command.model_version_id.value = version;
    command.creator_request.text = "{}";
    return command;
}

report_scan report_command(std::uint64_t build, scan_status status, safety_status safety) {
    report_scan command;
    command.workspace_name = "default";
    command.build_id.value = build;
    command.scan_status = status;
    command.safety_status = safety;
    command.url = "https://scanner.example.org/1";
    return command;
}
report_scan safe_report(std::uint64_t build) {
    return report_command(build, scan_status::scanned, safety_status::safe);
}
report_scan unsafe_report(std::uint64_t build) {
    return report_command(build, scan_status::scanned, safety_status::unsafe);
}

void tell_of_refused_reports(golden_writer& log) {
    log.refused(report_command(1, scan_status::scanning, safety_status::safe), "that reports nothing");
    log.refused(report_command(1, scan_status::scanned, safety_status::unknown), "without a result");
    report_scan report = safe_report(1);
    report.url = "scanner.example.org";
    log.refused(report, "with half a URL");
    log.refused(safe_report(99), "of a build that there is none of");
    report = safe_report(1);
    report.workspace_name = "ann";
    log.refused(report, "of a build of another workspace");
    log.user = ann;
    log.refused(safe_report(1), "by somebody who may only read");
    log.user = admin;
}

}  // namespace

void tell_of_builds(golden_writer& log) {
    create_build command = build_command(1);
    command.workspace_name = "nowhere";
    log.refused(command, "in a workspace that there is none of");
    log.refused(build_command(99), "of a version that there is none of");
    command = build_command(1);
    command.external_location = "image\x7f";
    log.refused(command, "with a location that does not show all");
    command = build_command(1);
    command.upstream_url = "https://";
    log.refused(command, "with a URL without a host");
    command.upstream_url = "http://127.0.0.1:99999/";
    log.refused(command, "with a URL with a port that is none");
    command = build_command(1);
    command.creator_request.text = "\"" + string(16 * 1024, 'x') + "\"";
    log.refused(command, "of a request that is too long");
    log.user = ann;
    log.refused(build_command(1), "by somebody who may only read");
    log.user = admin;

    command = build_command(1);
    command.upstream_url = "https://upstream.example.org";
    command.requires_root = command.scan_external = command.self_contained = command.uses_flask = true;
    log.done(command, "1");
    command = build_command(1);
    command.external_location.clear();
    log.done(command, "2, which cannot be made");
    log.done(build_command(1), "3");
    log.user = ann;
    command = build_command(1);
    command.workspace_name = "ann";
    log.done(command, "4, in Ann's workspace");
    log.user = admin;
}

void tell_of_scans(golden_writer& log) {
    log.refused(scan_command(2), "of a build that was not made");
    log.refused(scan_command(99), "of a build that there is none of");
    request_scan too_long = scan_command(1);
    too_long.creator_request.text = string(16 * 1024 + 1, ' ');
    log.refused(too_long, "of a request that is too long");
    log.refused(safe_report(1), "that nobody had asked for");
    log.done(scan_command(1), "1");
    log.refused(scan_command(1), "while the first is running");
    tell_of_refused_reports(log);
    log.done(safe_report(1));
    log.done(safe_report(1), "the same again");
    log.refused(report_command(1, scan_status::error, safety_status::unknown), "of what is finished");
    report_scan report = safe_report(1);
    report.url = "https://scanner.example.org/2";
    log.refused(report, "of what is finished, with another URL");
    log.done(unsafe_report(1), "which is no longer safe");
    log.refused(safe_report(1), "which would be safe again");
    log.done(scan_command(1), "2");
    report = safe_report(1);
    report.url.clear();
    log.done(report, "of a build that was unsafe once");

    log.done(set_feature_flag{"scan_events", false, ""});
    log.done(scan_command(3), "3, without an event");
    log.done(set_feature_flag{"scan_events", true, ""});
    log.done(report_command(3, scan_status::error, safety_status::unknown));
    log.done(safe_report(3));
    log.user = ann;
    report_scan unasked = unsafe_report(of_ann.value);
    unasked.workspace_name = "ann";
    log.done(unasked, "4, that nobody had asked for");

    log.refused(version_scan_command(3), "by somebody who may only read");
    log.user = admin;
    log.refused(version_scan_command(99), "of a version that there is none of");
    request_version_scan long_request = version_scan_command(3);
    long_request.creator_request = too_long.creator_request;
    log.refused(long_request, "of a request that is too long");
    log.done(version_scan_command(1), "5, of the build 3");
    log.done(safe_report(3), "of the newest scan");
    log.done(version_scan_command(3), "of a version without a build, and none can be made");
    ++log.activities;  // it says why
    log.done(scan_command(1), "6, of which nobody reports in time");
}

void tell_of_a_late_report(golden_writer& log) { log.done(unsafe_report(1), "too late"); }

}  // namespace herald::test
