// Of the golden log: the rows of the audit, and their end. Every command of a user has one; here
// are those that say in another way what they are about.
#include "tests/unit/storage/registry/golden_story.hpp"

namespace herald::test {

using namespace schemas::commands;

void tell_of_the_audit(golden_writer& log) {
    log.user = admin;
    delete_webhooks several;
    several.ids = {schemas::webhook_id{9'998}, schemas::webhook_id{9'999}};
    log.refused(several, "of some that there are none of");
    create_model unnamed;
    unnamed.workspace_name = "nowhere";
    log.refused(unnamed, "in a workspace that there is none of");
    const command_envelope first = log.envelope_of(set_feature_flag{"scan_events", true, ""});
    log.add(first, "of the audit", ending::done);
    log.add(first, "a repeat: no second row", ending::done);
    command_envelope other = first;
    other.request.fingerprint = "another";
    other.request.address = "127.0.0.1:\x01";
    log.add(other, "another request under the same key", ending::refused);
    log.now_ms += 401 * day_ms;
    log.done(no_operation{}, "more than a year later: the rows go");
    log.done(no_operation{}, "and again");
    log.done(set_feature_flag{"scan_events", true, ""}, "the first row of a new year");
}

}  // namespace herald::test
