// Of the golden log: stages and promotions. Ann may only read.
#include "tests/unit/storage/registry/golden_story.hpp"

namespace herald::test {
namespace {

using namespace schemas::commands;
using schemas::activity_id;
using schemas::stage;
using schemas::version_id;
using std::string;

const string& long_comment() {
    static const string text(16 * 1024 + 1, 'x');
    return text;
}

create_transition transition_command(std::uint64_t version, stage desired) {
    return {version_id{version}, desired, "please"};
}

/// Adds a command that makes an entry in a version's history.
template <class Command>
activity_id told(golden_writer& log, const Command& command, std::string_view what) {
    log.done(command, what);
    return activity_id{++log.activities};
}

/// Asked for by Bob, approved and committed by the administrator.
void promote(golden_writer& log, std::uint64_t version, std::string_view what) {
    log.user = bob;
    const activity_id asked = told(log, transition_command(version, stage::production), what);
    log.user = admin;
    told(log, review_transition{asked, true, ""}, what);
    told(log, commit_transition{asked, ""}, what);
}

void tell_of_refused_transitions(golden_writer& log) {
    log.refused(transition_command(99, stage::staging), "of a version that there is none of");
    log.refused(transition_command(1, stage::unknown), "to no stage");
    create_transition command = transition_command(1, stage::staging);
    command.comment = long_comment();
    log.refused(command, "with a comment that is too long");
    log.user = ann;
    log.refused(transition_command(1, stage::staging), "by somebody who may only read");
    log.user = admin;
}

void tell_of_refused_failures(golden_writer& log) {
    log.refused(fail_promotion{version_id{99}, "reason"}, "of a version that there is none of");
    log.refused(fail_promotion{version_id{2}, "reason"}, "of a version that is not promoted");
    log.refused(fail_promotion{version_id{1}, long_comment()}, "for a reason that is too long");
    log.user = ann;
    log.refused(fail_promotion{version_id{1}, "reason"}, "by somebody who may only read");
    log.user = admin;
}

void tell_of_completions(golden_writer& log) {
    log.done(set_feature_flag{"promote_events", false, ""});
    promote(log, 4, "of 4 to PRODUCTION, without an event");
    log.done(set_feature_flag{"promote_events", true, ""});
    update_version completion;
    completion.id.value = 4;
    completion.mode = update_mode::replace;
    completion.redirect_metadata = "https://example.org/4";
    log.done(completion, "that completes the promotion");
    log.done(completion, "the same again");
    completion.version.description = "described";
    log.done(completion, "with what completed it, and a description");
    completion.redirect_metadata = "https://example.org/5";
    log.refused(completion, "that completes it otherwise");
    log.refused(fail_promotion{version_id{4}, "reason"}, "of a promotion that is complete");
}

void tell_of_late_completions(golden_writer& log) {
    const activity_id back = told(log, transition_command(1, stage::development), "of 1 to DEVELOPMENT");
    log.refused(transition_command(1, stage::development), "to a stage that another asks for");
    told(log, commit_transition{back, ""}, "of 1 to DEVELOPMENT, during its promotion");
    update_version completion;
    completion.id.value = 1;
    completion.redirect_metadata = "https://example.org/1";
    log.refused(completion, "that completes a promotion that has failed");
    promote(log, 1, "of 1 to PRODUCTION, a third time");
    completion.time_updated = 5;
    log.refused(completion, "that completes it, but was read before");
}

}  // namespace

void tell_of_stages(golden_writer& log) {
    tell_of_refused_transitions(log);
    const activity_id staging = told(log, transition_command(1, stage::staging), "of 1 to STAGING");
    const activity_id same = told(log, transition_command(1, stage::unassigned), "to where it is");
    log.refused(review_transition{activity_id{99}, true, ""}, "of one that there is none of");
    log.refused(review_transition{staging, true, ""}, "of his own");
    log.user = ann;
    log.refused(review_transition{staging, true, ""}, "by somebody who may only read");
    const activity_id of_ann = told(log, transition_command(5, stage::staging), "in her own workspace");
    log.user = bob;
    log.refused(review_transition{of_ann, true, ""}, "of one that he may not see");
    log.refused(review_transition{same, true, ""}, "of what is closed");
    log.refused(review_transition{staging, true, long_comment()}, "with a comment that is too long");
    told(log, review_transition{staging, false, "no"}, "of STAGING: rejected");
    log.user = admin;
    log.refused(commit_transition{staging, ""}, "of what is rejected");
    log.user = bob;
    told(log, review_transition{staging, true, "yes"}, "of STAGING: approved after all");
    log.user = admin;
    log.refused(commit_transition{staging, ""}, "without a safe scan");
    log.refused(commit_transition{same, ""}, "of what is closed");
    log.refused(commit_transition{activity_id{99}, ""}, "of one that there is none of");

    log.user = bob;
    const activity_id production = told(log, transition_command(1, stage::production), "of 1 to PRODUCTION");
    log.refused(commit_transition{production, ""}, "without approval");
    log.user = admin;
    told(log, review_transition{production, true, "good"}, "of PRODUCTION: approved");
    log.refused(commit_transition{production, long_comment()}, "with a comment that is too long");
    told(log, commit_transition{production, "go"}, "of 1 to PRODUCTION");
    log.refused(review_transition{production, false, "no"}, "of what is committed");
    log.refused(commit_transition{production, "go"}, "of what is committed");
    log.refused(close_transition{production, ""}, "of what is committed");
    log.user = bob;
    log.refused(commit_transition{staging, ""}, "after the stage has changed");
    log.refused(review_transition{staging, true, long_comment()}, "with a comment that is too long");
    log.refused(close_transition{activity_id{99}, ""}, "of one that there is none of");
    log.refused(close_transition{staging, long_comment()}, "with a comment that is too long");
    told(log, close_transition{staging, string(16 * 1024, 'x')}, "of STAGING, saying as much as may be");
    log.user = admin;
}

void tell_of_promotions(golden_writer& log) {
    tell_of_refused_failures(log);
    log.done(fail_promotion{version_id{1}, "did not start"});
    log.refused(fail_promotion{version_id{1}, "did not start"}, "of a promotion that has failed");
    const activity_id staging = told(log, transition_command(1, stage::staging), "of 1 to STAGING");
    told(log, commit_transition{staging, ""}, "of 1 to STAGING, which has a safe build");
    promote(log, 1, "of 1 to PRODUCTION, a second time");
    tell_of_completions(log);
    tell_of_late_completions(log);
}

}  // namespace herald::test
