// How the golden log begins: GENESIS, envelopes, users; and the order of its chapters.
#include "tests/unit/storage/registry/golden_endpoints.hpp"

namespace herald::test {
namespace {

using namespace schemas::commands;
using std::string;

genesis genesis_command() {
    genesis command;
    command.log_id[0] = 7;
    command.event_partitions = 4;
    command.key_check = "check";
    command.organization_name = "default";
    command.admin_email = admin_email;
    command.admin_key_hash = admin_key_hash();
    command.admin_uuid = some_uuid;
    command.require_approval_for = {schemas::stage::production};
    return command;
}

create_user user_command(const string& email) {
    create_user command;
    command.email = email;
    command.key_name = "k1";
    command.key_hash = admin_key_hash();
    command.user_uuid = {2};
    return command;
}

add_group_users group_command(std::uint64_t group, std::vector<schemas::user_id> users) {
    add_group_users command;
    command.org_id.value = 1;
    command.group_id.value = group;
    command.user_id = std::move(users);
    return command;
}

void tell_of_flags(golden_writer& log) {
    set_feature_flag command{"scan_events", false, ""};
    log.user = ann;
    log.refused(command, "by somebody who is no system administrator");
    log.user = admin;
    log.refused(set_feature_flag{"colours", true, ""}, "a flag that there is none of");
    command.content = string(4'097, 'x');
    log.refused(command, "too long");
    log.done(set_feature_flag{"scan_events", false, string(4'096, 'x')}, "as long as may be");
    log.done(set_feature_flag{"scan_events", true, ""});
}

}  // namespace

command_envelope golden_writer::completed(command_envelope command, request_identity who) const {
    command = test::envelope_of(std::move(command), now_ms, std::move(who));
    command.log_id[0] = 7;
    command.command_id[15] = static_cast<std::uint8_t>(offset());
    command.command_id[14] = static_cast<std::uint8_t>(offset() >> 8);
    return command;
}

std::uint64_t golden_writer::add(const command_envelope& command, std::string_view what, ending expected) {
    const auto* known = find_command(command.type);
    const string name = known ? string(known->name) : "an unknown command";
    const string who =
        command.request.principal ? " by user " + std::to_string(command.request.principal.value) : string();
    add_bytes(seal_envelope(command), name + who + (what.empty() ? "" : ", ") + string(what));
    x_records.back().expected = expected;
    return offset() - 1;
}

void golden_writer::add_bytes(std::optional<string> value, std::string_view what) {
    const auto place = static_cast<std::int64_t>(offset());
    x_records.push_back(
        {string(what), ending::refused, {place, now_ms, "", std::move(value)}, std::exchange(x_rows, {})});
    now_ms += 100;
}

void golden_writer::put_before_next(string key, string row) { x_rows[std::move(key)] = std::move(row); }

void tell_of_the_beginning(golden_writer& log) {
    genesis command = genesis_command();
    command.event_partitions = 0;
    log.refused(command, "without partitions for events");
    command = genesis_command();
    command.admin_uuid = {};
    log.refused(command, "without the administrator's UUID");
    log.done(genesis_command());
    log.refused(genesis_command(), "a second time");
    log.done(no_operation{});
}

void tell_of_envelopes(golden_writer& log) {
    log.add_bytes(std::nullopt, "a tombstone");
    log.add_bytes("no command", "bytes that are no command");
    string broken = seal_envelope(log.envelope_of(no_operation{}));
    broken.back() = static_cast<char>(broken.back() ^ 1);
    log.add_bytes(broken, "a command with a wrong checksum");
    const command_envelope good = log.envelope_of(user_command("nobody@example.org"));
    command_envelope other = good;
    other.log_id[0] = 8;
    log.add(other, "of another log", ending::refused);
    other = good;
    other.generation = 2;
    log.add(other, "of another generation", ending::refused);
    other = good;
    other.level = 2;
    log.add(other, "of the next level", ending::refused);
    other.type = command_type{4711};
    log.add(other, "of the next level", ending::refused);
    other = good;
    other.not_after_ms = log.now_ms - 10'000;
    log.add(other, "too late", ending::refused);
    other = good;
    other.request.credential_hash = "another key's";
    log.add(other, "with a key that is not his", ending::refused);
    other = log.envelope_of(user_command("nobody@example.org"));
    other.body = "\xff\xff";
    log.add(other, "whose body is none", ending::refused);
    create_model unnamed;
    unnamed.workspace_name = "default";
    unnamed.model.data_type = static_cast<schemas::data_type>(99);
    log.refused(unnamed, "with a number that its enumeration has no name for");

    log.now_ms -= 5'000;  // the log's clock goes back: log time stays
    log.done(no_operation{}, "at an earlier time");
    log.now_ms += 10'000;
    command_envelope slow = log.envelope_of(no_operation{});
    slow.sender_clock_ms -= hour_ms;  // log time stays behind the record's
    log.add(slow, "from a sender whose clock is an hour slow", ending::done);
}

void tell_of_users(golden_writer& log) {
    create_user command = user_command("ann@example.org");
    command.username = "ann";
    command.full_name = "Ann Example";
    const command_envelope first = log.envelope_of(command);
    log.done(command);
    log.add(first, "a repeat under the same key", ending::done);
    command_envelope other = first;
    other.request.fingerprint = "another";
    log.add(other, "another request under the same key", ending::refused);

    command = user_command("eve@example.org");
    command.username = admin_email;
    log.refused(command, "named as the administrator's e-mail");

    log.user = ann;
    log.refused(user_command("bob@example.org"), "by somebody who is no system administrator");
    log.user = admin;
    log.refused(user_command(""), "without an e-mail");
    for (const char* email : {"bob", "@example.org", "bob@", "bob@example@org", "b ob@example.org",
                              "b\u00f6b@example.org", "b:b@example.org"})
        log.refused(user_command(email), "with an e-mail that is none");
    log.refused(user_command(string(246, 'b') + "@long.org"), "with an e-mail that is too long");
    log.refused(user_command("ANN@example.org"), "with Ann's e-mail");
    command = user_command("bob@example.org");
    command.username = "b\x07ob";
    log.refused(command, "with a control character in the name");
    for (const char* name : {"b\u0085ob", "b\u202Eob", "b\u2066ob"}) {
        command.username = name;
        log.refused(command, "with a name that turns the text after it");
    }
    for (const char* name : {"b\u200Bob", "bob ", "b\u2028ob", "bob\u200D"}) {
        command.username = name;
        log.refused(command, "with a name that does not show all");
    }
    command.username = " \u00A0\u1680\u2003\u2028\u2029\u202F\u205F\u3000\u200B\uFEFF";
    log.refused(command, "with a name that does not show");
    command.username = string(257, 'b');
    log.refused(command, "with a name that is too long");
    command.username = "b\xff";
    log.refused(command, "with a name that is no UTF-8");
    command.username = "default";
    log.refused(command, "with the name of a workspace");
    command.username.clear();
    command.full_name = string("B\0ob", 4);
    log.refused(command, "with a NUL");
    command.full_name = "b\u200Bob";
    log.refused(command, "with a full name that does not show all");
    command.full_name.clear();
    command.key_hash = "short";
    log.refused(command, "with half a hash");
    command.key_hash = admin_key_hash();
    command.user_uuid = {};
    log.refused(command, "without a UUID");
    command.user_uuid = {3};
    command.service_account = true;
    log.done(command, "who becomes Bob");
    command = user_command(string(245, 'c') + "@long.org");
    command.username = string(249, 'c') + "\u00e9 \U0001F642";
    command.full_name = string(256, 'c');
    log.done(command, "as long as may be");

    add_group_users foreign = group_command(1, {bob});
    foreign.org_id.value = 2;
    log.refused(foreign, "of another organization");
    log.refused(group_command(9, {bob}), "to a group that there is none of");
    log.refused(group_command(1, {bob, schemas::user_id{99}}), "one of whom there is none of");
    log.refused(group_command(1, std::vector(401, bob)), "too many at once");
    log.user = ann;
    log.refused(group_command(1, {ann}), "by somebody who is in no group of administrators");
    log.user = admin;
    log.done(group_command(1, {bob}));
    log.user = bob;
    log.done(group_command(2, {ann, bob}), "who is in Admins");
    log.done(group_command(2, std::vector(400, bob)), "as many as may be");
    log.user = admin;

    log.refused(renew_admin_key{"nobody@example.org", admin_key_hash()}, "of nobody");
    log.refused(renew_admin_key{"ann@example.org", admin_key_hash()}, "of somebody who is none");
    const string new_hash = string(runtime::as_bytes(runtime::sha256("a new key")));
    log.done(renew_admin_key{string(admin_email), new_hash});
    log.refused(group_command(2, {ann}), "with the key that was renewed");
    log.done(renew_admin_key{string(admin_email), admin_key_hash()}, "back to the old one");
    tell_of_flags(log);
}

std::vector<golden_record> golden_story() {
    golden_writer log;
    tell_of_the_beginning(log);
    tell_of_envelopes(log);
    tell_of_users(log);
    const std::uint64_t publisher_token = tell_of_nodes(log);
    tell_of_webhooks(log);
    tell_of_models(log);
    tell_of_versions(log);
    tell_of_stages(log);
    tell_of_builds(log);
    tell_of_scans(log);
    tell_of_promotions(log);
    tell_of_bounds(log);
    tell_of_a_month(log, publisher_token);
    tell_of_the_registry(log);
    tell_of_reported_events(log);
    tell_of_artifacts(log);
    tell_of_governance(log);
    tell_of_identity(log);
    tell_of_restoring(log);
    tell_of_the_audit(log);
    tell_of_endpoints(log);
    tell_of_updated_stages(log);
    tell_of_news(log, 268);
    tell_of_deliveries(log);
    tell_of_a_raise(log, 2);
    return log.take();
}

}  // namespace herald::test
