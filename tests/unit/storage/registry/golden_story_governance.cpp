// Of the golden log: stages, policies, builds and scans. Bob is a member of Admins;
// Ann may only read in the administrator's workspace.
#include "tests/unit/storage/registry/golden_story.hpp"

namespace herald::test {
namespace {

using namespace schemas::commands;
using schemas::activity_id;
using schemas::safety_status;
using schemas::scan_status;
using schemas::stage;
using schemas::version_id;
using std::string;

/// Adds a command that makes an entry in a version's history.
template <class Command>
activity_id told(golden_writer& log, const Command& command, std::string_view what) {
    log.done(command, what);
    return activity_id{++log.activities};
}

string too_long() { return string(16 * 1024 + 1, 'x'); }

void tell_of_changes_without_a_transition(golden_writer& log) {
    log.refused(update_stage{version_id{99}, stage::archived, ""}, "of a version that there is none of");
    log.refused(update_stage{version_id{2}, stage::unknown, ""}, "to no stage");
    log.refused(update_stage{version_id{2}, stage::archived, too_long()}, "with a comment that is too long");
    log.refused(update_stage{version_id{2}, stage::production, ""}, "to a stage that needs approval");
    log.refused(update_stage{version_id{2}, stage::staging, ""}, "to a stage that needs a safe scan");
    log.user = ann;
    log.refused(update_stage{version_id{2}, stage::archived, ""}, "by somebody who may only read");
    log.user = admin;
    told(log, update_stage{version_id{2}, stage::development, "to try"}, "of 2 to DEVELOPMENT");
    told(log, update_stage{version_id{2}, stage::development, ""}, "to where it is");
    told(log, update_stage{version_id{1}, stage::archived, ""}, "of 1, during its promotion");

    told(log, create_comment{version_id{2}, "well"}, "of 2");
    log.refused(create_comment{version_id{2}, ""}, "that says nothing");
    log.refused(create_comment{version_id{2}, too_long()}, "that is too long");
    log.refused(create_comment{version_id{99}, "well"}, "of a version that there is none of");
    log.user = ann;
    log.refused(create_comment{version_id{2}, "well"}, "by somebody who may only read");
    log.user = admin;
}

set_policies policies_of(const string& workspace, std::vector<stage> approved_stages) {
    set_policies command;
    command.workspace_name = workspace;
    command.policies.require_approval_for = std::move(approved_stages);
    return command;
}

void tell_of_policies(golden_writer& log) {
    log.refused(policies_of("nowhere", {}), "of a workspace that there is none of");
    log.refused(policies_of("ann", {}), "of a workspace that he does not see");
    log.user = ann;
    log.refused(policies_of("default", {}), "by somebody who is no admin there");
    log.user = admin;
    log.refused(policies_of("default", {stage::unknown}), "with no stage");
    set_policies command = policies_of("default", {});
    command.policies.require_safe_scan_for = {stage::staging, stage::unknown};
    log.refused(command, "with no stage");
    for (const std::uint32_t wrong : {0u, 101u}) {
        command = policies_of("default", {});
        command.policies.approvals_required = wrong;
        log.refused(command, "with too few approvals, or too many");
    }
    command = policies_of("default", {});
    command.policies.promotion_deadline_seconds = 365u * 24 * 3'600 + 1;
    log.refused(command, "with a deadline that is too far away");
    command = policies_of("default", {});
    command.takes_default_approvals = true;
    command.policies.promotion_deadline_seconds = 365u * 24 * 3'600;
    command.policies.approvals_required = 100;
    log.done(command, "as the installation has them, with as much as may be");
}

void tell_of_an_own_workspace(golden_writer& log) {
    log.user = ann;
    set_policies command = policies_of("ann", {stage::production, stage::production});
    log.done(command, "that nobody can satisfy");
    log.refused(create_transition{version_id{5}, stage::production, ""}, "that nobody can approve");
    log.refused(update_stage{version_id{5}, stage::production, ""}, "that nobody can approve");
    command.takes_default_approvals = true;
    log.done(command, "as an own workspace has them");
    told(log, update_stage{version_id{5}, stage::production, ""}, "of 5 to PRODUCTION");
    log.user = admin;
}

void tell_of_commits_by_approval(golden_writer& log) {
    set_policies command = policies_of("default", {stage::production});
    command.policies.approvals_required = 2;
    command.policies.require_safe_scan_for = {stage::archived};
    command.policies.commit_on_approve = true;
    command.policies.promotion_deadline_seconds = 60;
    log.done(command, "two approvals, of which the second commits");
    log.user = bob;
    const activity_id production =
        told(log, create_transition{version_id{2}, stage::production, ""}, "of 2 to PRODUCTION");
    const activity_id archived =
        told(log, create_transition{version_id{3}, stage::archived, ""}, "of 3 to ARCHIVED");
    log.user = admin;
    told(log, review_transition{production, true, ""}, "of PRODUCTION: approved, which is not enough");
    log.refused(commit_transition{production, ""}, "with one approval of two");
    log.refused(commit_transition{production, too_long()}, "with a comment that is too long");
    command.policies.approvals_required = 1;
    log.done(command, "one approval");
    told(log, review_transition{production, false, ""}, "of PRODUCTION: rejected after all");
    told(log, review_transition{archived, true, ""}, "of ARCHIVED: approved, without a safe scan");
    told(log, review_transition{production, true, ""}, "of PRODUCTION: approved, which commits");
    ++log.activities;  // of the commit
    log.now_ms += 59'000;
    log.done(no_operation{}, "before the promotion's deadline");
    log.now_ms += 2'000;
    log.done(no_operation{}, "after the promotion's deadline");
    log.done(policies_of("default", {stage::production}), "as in the beginning");
}

create_build build_command(const string& workspace, const string& upstream_url) {
    create_build command;
    command.workspace_name = workspace;
    command.model_version_id.value = 3;
    command.external_location = "registry.example.org/fraud:2";
    command.upstream_url = upstream_url;
    command.creator_request.text = R"({"model_version_id":3})";
    return command;
}

report_scan report_command(const string& workspace, scan_status status, safety_status safety) {
    report_scan command;
    command.workspace_name = workspace;
    command.build_id.value = 3;
    command.scan_status = status;
    command.safety_status = safety;
    return command;
}

void tell_of_building(golden_writer& log) {
    log.refused(build_command("default", "https://me:secret@example.org"), "with a password in its URL");
    log.refused(build_command("default", "https://example.org/#a"), "with a fragment in its URL");
    log.refused(build_command("default", "https://ex\u00e4mple.org"), "with a host that is not ASCII");
    log.refused(build_command("77", ""), "in a workspace that there is none of");
    log.user = ann;
    log.refused(build_command("default", ""), "by somebody who may only read");
    log.user = admin;
    log.done(build_command("1", "https://example.org:8080/\u00e4"), "in a workspace by its id");

    log.refused(set_build_message{schemas::build_id{9999}, "copied"}, "of a build that there is none of");
    log.refused(set_build_message{schemas::build_id{3}, too_long()}, "that is too long");
    log.user = ann;
    log.refused(set_build_message{schemas::build_id{3}, "copied"}, "by somebody who may only read");
    log.user = admin;
    log.done(set_build_message{schemas::build_id{3}, "copied"});
    log.done(set_build_message{schemas::build_id{3}, "copied"}, "the same again");
}

void tell_of_scanning(golden_writer& log) {
    request_scan asked;
    asked.workspace_name = "1";
    asked.build_id.value = 3;
    asked.creator_request.text = "{}";
    log.done(asked, "in a workspace by its id");
    log.user = ann;
    log.refused(asked, "by somebody who may only read");
    log.refused(report_command("default", scan_status::scanned, safety_status::safe),
                "by somebody who may only read");
    log.user = admin;
    set_policies by_others = policies_of("default", {stage::production});
    by_others.policies.scan_by_others = true;
    log.done(by_others, "scans are reported by others");
    log.refused(report_command("1", scan_status::scanned, safety_status::safe), "by who requested it");
    log.done(policies_of("default", {stage::production}), "scans are reported by anybody");
    log.refused(report_command("2", scan_status::error, safety_status::unknown),
                "of a build of another workspace");
    log.done(report_command("1", scan_status::error, safety_status::unsafe), "that failed and says unsafe");
    log.refused(report_command("1", scan_status::scanned, safety_status::safe), "of what was called unsafe");
}

update_version change_of(std::string_view member) {
    update_version command;
    command.id.value = 3;
    command.mode = update_mode::merge;
    command.present = {string(member)};
    return command;
}

void tell_of_what_is_outdated(golden_writer& log) {
    update_version nowhere = change_of("redirect_metadata");
    nowhere.redirect_metadata = "https://:8080/";
    log.refused(nowhere, "with a URL without a host");
    update_version attribute = change_of("attributes");
    attribute.version.attributes = {{"auc", {"0.9"}, {}}};
    update_version environment = change_of("environment");
    environment.version.environment = {R"({"docker":{}})"};
    set_policies command = policies_of("default", {stage::production});
    command.policies.require_safe_scan_for = {stage::archived};
    log.done(command, "an approval, or a safe scan");
    log.user = bob;
    const activity_id production =
        told(log, create_transition{version_id{3}, stage::production, ""}, "of 3 to PRODUCTION");
    log.user = admin;
    told(log, review_transition{production, true, ""}, "of PRODUCTION: approved");
    log.done(attribute, "what was approved");
    log.refused(commit_transition{production, ""}, "approved before a change");
    told(log, review_transition{production, true, ""}, "of PRODUCTION: approved again");
    told(log, commit_transition{production, ""}, "of PRODUCTION");
    log.done(environment, "of which an image is made");
    log.refused(update_stage{version_id{3}, stage::archived, ""}, "with builds of before a change");
    log.done(policies_of("default", {stage::production}), "as in the beginning");
}

}  // namespace

void tell_of_governance(golden_writer& log) {
    tell_of_changes_without_a_transition(log);
    tell_of_policies(log);
    tell_of_an_own_workspace(log);
    tell_of_commits_by_approval(log);
    tell_of_building(log);
    tell_of_scanning(log);
    tell_of_what_is_outdated(log);
}

}  // namespace herald::test
