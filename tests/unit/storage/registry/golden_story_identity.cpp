// Of the golden log: users, keys, organisations, groups, roles and workspaces.
#include "schemas/binary.hpp"
#include "storage/registry/tables/tables.hpp"
#include "storage/registry/tables/timers.hpp"
#include "tests/unit/storage/registry/golden_story.hpp"

namespace herald::test {
namespace {

using namespace schemas::commands;
using schemas::group_id;
using schemas::organization_id;
using schemas::role_id;
using schemas::session_id;
using schemas::user_id;
using schemas::workspace_id;
using std::string;
using storage::registry::tables::key_of;
using storage::registry::tables::table;
using storage::registry::tables::timer_kind;

// The chapter counts from here, whatever was told before it.
constexpr std::uint64_t base = 1'000;
constexpr user_id cleo{base + 1}, dora{base + 2}, robot{base + 3}, nobody{987'654};
constexpr organization_id first{1}, research{base + 1};
constexpr group_id admins{1}, everybody{2}, reviewers{base + 3};
constexpr role_id editor{base + 6};
constexpr workspace_id cleos{base + 1}, doras{base + 2}, fraud{base + 5};

string varint(std::uint64_t value) {
    string bytes;
    schemas::append_varint(bytes, value);
    return bytes;
}
string hash_of(const string& key) { return string(runtime::as_bytes(runtime::sha256(key))); }
string text_of(std::size_t bytes) { return string(bytes, 'x'); }

void count_from_base(golden_writer& log) {
    for (const char* counter : {"user", "organization", "group", "role", "workspace", "session"})
        log.put_before_next(key_of(table::counter).text(counter), varint(base));
}

create_user user_command(const string& email, const string& username = {}) {
    create_user command;
    command.email = email;
    command.username = username;
    command.key_name = "k1";
    command.key_hash = admin_key_hash();
    command.user_uuid = {4};
    return command;
}

update_user update_of(user_id user) {
    update_user command;
    command.user_id = user;
    return command;
}

void tell_of_changed_users(golden_writer& log) {
    log.done(user_command("cleo@example.org"));
    log.done(user_command("dora@example.org", "dora"));
    log.refused(user_command("eve@example.org", "DORA"), "named as another in capitals");
    update_user command = update_of({});
    command.full_name = "Cleo Example";
    log.user = cleo;
    log.done(command, "her own name");
    command.default_workspace_id = doras;
    log.refused(command, "with a default workspace that she does not see");
    command = update_of({});
    command.email = "cleopatra@example.org";
    log.refused(command, "with an e-mail, by one who is no system administrator");
    command = update_of(dora);
    log.refused(command, "of another");
    log.user = admin;
    log.refused(update_of(nobody), "of one whom there is none of");
    command = update_of(cleo);
    command.email = "cleopatra@example.org";
    log.done(command, "with an e-mail, which is also the name");
    command.email = "dora";
    log.refused(command, "with an e-mail that is none");
    command.email = "dora@example.org";
    log.refused(command, "with another's e-mail");
    command = update_of(cleo);
    command.username = "Dora@example.org";
    log.refused(command, "named as another's e-mail");
    command.username = "b\x07";
    log.refused(command, "with a name that does not show");
    command.username = "default";
    log.refused(command, "named as a workspace");
    command.username = "cleo";
    command.full_name = text_of(257);
    log.refused(command, "with a name that is too long");
    command.full_name.clear();
    command.default_workspace_id = cleos;
    log.done(command);
    create_user eve = user_command("eve@example.org");
    eve.email = "cleo";
    log.refused(eve, "with an e-mail that is none");
}

void tell_of_keys(golden_writer& log) {
    log.user = cleo;
    add_key another{{}, "k1", "short"};
    log.refused(another, "with half a hash");
    another.key_hash = hash_of("second");
    log.refused(remove_key{{}, false}, "the only one");
    log.done(another);
    log.refused(another, "a third");
    another.user_id = dora;
    log.refused(another, "for another");
    log.done(remove_key{{}, true});
    log.refused(remove_key{{}, true}, "that is not there");
    log.user = admin;
    log.refused(remove_key{cleo, true}, "that is not there");
    log.refused(remove_key{nobody, false}, "of nobody");
    log.done(remove_key{cleo, false}, "of another, the last");
    log.refused(remove_key{cleo, false}, "that is not there");
    another = {cleo, "k1", admin_key_hash()};
    log.done(another, "for another");
}

void tell_of_sessions(golden_writer& log) {
    create_session command{{}, "nightly", 3'600, "k1", hash_of("session")};
    log.user = cleo;
    log.done(command, "that ends after an hour");
    command.key_hash = hash_of("next session");
    log.done(command, "in place of the first");
    command.name = "";
    log.refused(command, "without a name");
    command.name = "weekly";
    command.key_hash = "short";
    log.refused(command, "with half a hash");
    command.key_hash = hash_of("weekly");
    for (const std::int64_t seconds : {-1ll, 365ll * 24 * 3'600 + 1}) {
        command.ttl_seconds = seconds;
        log.refused(command, "for too short or too long");
    }
    command.ttl_seconds = 365ll * 24 * 3'600;
    log.done(command, "for a year");
    for (auto minting : {log.envelope_of(add_key{{}, "k1", hash_of("more")}), log.envelope_of(command)}) {
        minting.request.credential_hash = hash_of("weekly");
        minting.request.idempotency_key += minting.type == add_key::type ? " of a key" : " of a session";
        log.add(minting, "by a session", ending::refused);
    }
    command.user_id = dora;
    log.refused(command, "for another");
    log.user = dora;
    log.refused(delete_sessions{{session_id{base + 2}}}, "of another");
    log.user = cleo;
    log.refused(delete_sessions{std::vector<session_id>(101, session_id{base + 3})}, "too many at once");
    log.refused(delete_sessions{{session_id{base + 3}, session_id{nobody.value}}},
                "one of which is not there");
    log.done(delete_sessions{{session_id{base + 3}}});
    log.now_ms += 2 * hour_ms;
    log.done(no_operation{}, "an hour later");
    for (std::uint64_t i = 0; i < 100; ++i)
        log.put_before_next(key_of(table::session_of_user).number(cleo).number(5'000 + i), "");
    command = {{}, "one more", 0, "k1", hash_of("one more")};
    log.refused(command, "the hundred and first");
}

void tell_of_administrators(golden_writer& log) {
    log.user = cleo;
    log.refused(set_system_admin{"cleopatra@example.org", true}, "by somebody who is none");
    log.user = admin;
    log.refused(set_system_admin{"nobody", true}, "nobody");
    log.refused(set_system_admin{std::to_string(nobody.value), true}, "nobody");
    log.done(set_system_admin{"cleopatra@example.org", true});
    log.done(set_system_admin{std::to_string(dora.value), true}, "by id");
    log.refused(set_system_admin{string(admin_email), false}, "himself, and the first");
    log.user = cleo;
    log.refused(set_system_admin{string(admin_email), false}, "the first");
    log.refused(set_system_admin{"cleopatra@example.org", false}, "herself");
    log.refused(remove_user{admin}, "the first");
    log.refused(remove_user{cleo}, "herself");
    log.done(set_system_admin{"dora@example.org", false});
    log.user = admin;
    log.done(set_system_admin{"cleopatra@example.org", false});
}

create_service_account account_command(const string& email) {
    create_service_account command;
    command.org_id = first;
    command.email = email;
    command.key_name = "k1";
    command.key_hash = admin_key_hash();
    command.user_uuid = {5};
    return command;
}

void tell_of_service_accounts(golden_writer& log) {
    log.user = cleo;
    log.refused(account_command("robot@example.org"), "by one who is no administrator");
    log.user = admin;
    create_service_account command = account_command("robot@example.org");
    command.associated_workspace_id = doras;
    log.refused(command, "in a user's own workspace");
    command.associated_workspace_id.value = 1;
    command.description = text_of(64 * 1'024 + 1);
    log.refused(command, "described at too great length");
    command.description = "Promotes what was tested";
    command.org_id = {};
    log.done(command);
    command = account_command("dora@example.org");
    log.refused(command, "with a user's e-mail");
    command.org_id = research;
    log.refused(command, "of an organization that there is none of");
    update_service_account update;
    update.id = cleo;
    log.refused(update, "of one who is none");
    update.id = robot;
    update.associated_workspace_id = doras;
    log.refused(update, "in a user's own workspace");
    update.associated_workspace_id.value = 1;
    update.description = text_of(64 * 1'024 + 1);
    log.refused(update, "described at too great length");
    update.description = "Promotes";
    update.username = "\x07";
    log.refused(update, "with a name that does not show");
    update.username = "dora";
    log.refused(update, "with a user's name");
    update.username = "robot";
    log.done(update);
    log.user = dora;
    log.refused(update, "by one who is no administrator");
    log.user = admin;
    log.done(set_system_admin{std::to_string(robot.value), true}, "a service account");
    log.user = bob;
    log.refused(add_key{robot, "k1", hash_of("of the robot")}, "for a system administrator");
    log.refused(update, "of one who is a system administrator");
    log.refused(delete_service_account{robot, first}, "of one who is a system administrator");
    log.user = admin;
    log.done(set_system_admin{std::to_string(robot.value), false}, "a service account");
    delete_service_account removal{robot, research};
    log.refused(removal, "of another organization");
    removal.org_id = first;
    log.done(removal);
    log.refused(removal, "again");
}

set_group group_named(const string& name, group_id id = {}) {
    set_group command;
    command.org_id = first;
    command.id = id;
    command.name = name;
    return command;
}

void tell_of_groups(golden_writer& log) {
    log.done(set_organization{{}, "Research"});
    log.refused(set_organization{{}, "Research"}, "again");
    log.refused(set_organization{{}, "dora"}, "named as a workspace");
    log.refused(set_organization{{}, ""}, "without a name");
    log.refused(set_organization{organization_id{nobody.value}, "x"}, "that there is none of");
    log.refused(set_organization{research, ""}, "without a name");
    log.refused(set_organization{research, "default"}, "named as another");
    log.done(set_organization{research, "Science"}, "under another name");
    log.user = cleo;
    log.refused(set_organization{{}, "x"}, "by one who is no system administrator");
    log.refused(group_named("Reviewers"), "by one who is no administrator");
    set_group foreign = group_named("Reviewers");
    foreign.org_id = research;
    log.refused(foreign, "in an organization that she does not belong to");
    foreign.id = admins;
    log.refused(foreign, "in an organization that she does not belong to");
    log.user = admin;
    log.done(group_named("Reviewers"));
    log.refused(group_named("Reviewers"), "again");
    log.refused(group_named(""), "without a name");
    set_group described = group_named("Reviewers", reviewers);
    described.description = text_of(64 * 1'024 + 1);
    log.refused(described, "described at too great length");
    described.description = "Who looks twice";
    log.done(described);
    log.refused(group_named("All Users", reviewers), "named as another");
    log.refused(group_named("x", admins), "a built-in one");
    log.refused(group_named("x", group_id{nobody.value}), "that there is none of");
    log.done(add_group_users{first, reviewers, {cleo, dora}});
    log.refused(add_group_users{first, reviewers, {nobody}}, "nobody");
    log.refused(add_group_users{research, group_id{base + 1}, {cleo}}, "who does not belong to it");
    log.refused(remove_group_users{first, reviewers, std::vector(401, cleo)}, "too many at once");
    log.refused(remove_group_users{first, everybody, {cleo}}, "of the group of all");
    log.refused(remove_group_users{first, admins, {cleo, admin}}, "the first administrator");
    log.done(remove_group_users{first, reviewers, {cleo}});
}

set_role role_named(const string& name, role_id id = {}) {
    set_role command;
    command.org_id = first;
    command.id = id;
    command.name = name;
    command.actions = {{schemas::protected_type::registered_model,
                        {schemas::action::update, schemas::action::read, schemas::action::read}}};
    return command;
}

void tell_of_roles(golden_writer& log) {
    log.user = cleo;
    log.refused(role_named("Editor"), "by one who is no administrator");
    set_role foreign = role_named("x", read_only);
    foreign.org_id = research;
    log.refused(foreign, "of an organization that she does not belong to");
    log.user = admin;
    log.done(role_named("Editor"));
    log.refused(role_named("Editor"), "again");
    log.refused(role_named(""), "without a name");
    set_role command = role_named("Editor", editor);
    command.description = text_of(64 * 1'024 + 1);
    log.refused(command, "described at too great length");
    command.description = "Changes models";
    command.reports_scans = true;
    command.actions.push_back({schemas::protected_type::endpoint, {schemas::action::read}});
    command.actions.push_back({schemas::protected_type::dataset, {}});
    command.actions.push_back({schemas::protected_type::endpoint, {schemas::action::deploy}});
    log.done(command);
    command.actions = {{schemas::protected_type::none, {}}};
    log.refused(command, "on nothing");
    command.actions = {{schemas::protected_type::dataset, {schemas::action::none}}};
    log.refused(command, "of nothing");
    log.refused(role_named("x", read_only), "a built-in one");
    log.refused(role_named("x", role_id{nobody.value}), "that there is none of");
}

set_workspace workspace_named(const string& name, workspace_id id = {}) {
    set_workspace command;
    command.org_id = first;
    command.id = id;
    command.name = name;
    command.permissions = {{reviewers, editor}, {reviewers, editor}, {everybody, read_only}};
    return command;
}

void tell_of_workspaces(golden_writer& log) {
    log.user = cleo;
    log.refused(workspace_named("fraud"), "by one who is no administrator");
    set_workspace command = workspace_named("x", workspace_id{1});
    command.org_id = research;
    log.refused(command, "of an organization that she does not belong to");
    log.user = admin;
    command = workspace_named("fraud");
    command.permissions = {{group_id{base + 1}, editor}};
    log.refused(command, "with another organization's group");
    command.permissions = {{everybody, role_id{base + 1}}};
    log.refused(command, "with another organization's role");
    command.permissions = std::vector<schemas::permission>(101, {everybody, editor});
    log.refused(command, "with too many permissions");
    command = workspace_named("");
    log.refused(command, "without a name");
    command = workspace_named("fraud");
    command.description = text_of(64 * 1'024 + 1);
    log.refused(command, "described at too great length");
    command.description.clear();
    command.name_space = text_of(257);
    log.refused(command, "with a namespace that is too long");
    command.name_space = "cluster--namespace";
    log.done(command);
    log.refused(command, "again");
    log.refused(workspace_named("dora", fraud), "named as another");
    log.refused(workspace_named("x", doras), "a user's own");
    log.done(workspace_named("fraud detection", fraud), "under another name");
    change_permission change{first, fraud, {everybody, editor}, false};
    log.done(change, "a third");
    log.done(change, "which is there already");
    change.permission.role_id = read_only;
    change.removes = true;
    log.done(change, "the second");
    log.refused(change, "that is not there");
    change.removes = false;
    log.done(change, "the second again");
    change.permission.group_id.value = nobody.value;
    log.refused(change, "of a group that there is none of");
    log.refused(delete_role{first, editor}, "that a workspace uses");
    log.refused(delete_group{first, reviewers}, "that a workspace uses");
    log.refused(delete_role{first, read_only}, "a built-in one");
    log.refused(delete_group{first, admins}, "a built-in one");
    log.refused(delete_workspace{first, workspace_id{1}}, "a built-in one");
    log.refused(delete_workspace{first, workspace_id{nobody.value}}, "that there is none of");
    create_webhook hook;
    hook.workspace_id = fraud;
    hook.settings.name = "hook";
    hook.settings.location = "https://example.org/hook";
    hook.settings.event_types = {schemas::event_type::promote};
    log.done(hook);
    log.done(set_webhooks_by{schemas::webhooks_by::workspace_admins});
    log.user = cleo;
    log.refused(hook, "by a member who is no admin of the workspace");
    log.user = admin;
    log.done(set_webhooks_by{schemas::webhooks_by::system_admins}, "as before");
    log.refused(delete_workspace{first, fraud}, "that has a webhook");
    create_model model;
    model.workspace_name = "fraud detection";
    model.model.name = "m";
    log.done(model);
    log.refused(delete_workspace{first, fraud}, "that has a model and a webhook");
    log.done(workspace_named("empty"));
    log.done(delete_workspace{first, workspace_id{fraud.value + 1}});
    log.done(no_operation{}, "while the builds are swept");
    log.done(no_operation{}, "while the builds are swept");
}

void tell_of_removals(golden_writer& log) {
    log.user = cleo;
    log.refused(remove_user{dora}, "by one who is no system administrator");
    log.refused(add_organization_user{first, "dora@example.org"}, "by one who is no administrator");
    log.refused(remove_organization_user{first, dora}, "by one who is no administrator");
    log.user = admin;
    log.refused(remove_user{nobody}, "nobody");
    log.refused(add_organization_user{research, "nobody@example.org"}, "nobody");
    log.done(add_organization_user{research, "dora@example.org"});
    log.refused(remove_organization_user{research, cleo}, "who does not belong to it");
    log.refused(remove_organization_user{first, admin}, "the first administrator");
    log.done(remove_organization_user{research, dora});
    set_workspace taken = workspace_named("dora (removed " + std::to_string(dora.value) + ")");
    log.done(taken);
    log.done(create_session{dora, "nightly", 0, "k1", hash_of("dora")});
    log.done(remove_user{dora}, "the name of whose workspace is taken");
    log.done(workspace_named("free", workspace_id{fraud.value + 2}), "under another name");
    log.refused(remove_user{dora}, "again");
    log.refused(add_group_users{first, reviewers, {dora}}, "who was removed");
    log.refused(set_system_admin{std::to_string(dora.value), true}, "who was removed");
    log.done(user_command("dora@example.org", "dora"), "under the name of one who was removed");
    log.user = dora;
    log.refused(update_of({}), "who was removed");
    log.user = admin;
    log.done(workspace_named("free", workspace_id{fraud.value + 2}), "with the same groups");
    set_workspace bare = workspace_named("fraud detection", fraud);
    bare.permissions.clear();
    log.done(bare, "without permissions");
    bare = workspace_named("free", workspace_id{fraud.value + 2});
    bare.permissions.clear();
    log.done(bare, "without permissions");
    log.done(delete_role{first, editor});
    log.refused(delete_role{first, editor}, "again");
    log.done(delete_group{first, reviewers});
    log.refused(delete_group{first, reviewers}, "again");
}

void tell_of_the_end_of_an_organization(golden_writer& log) {
    log.user = cleo;
    log.refused(delete_organization{research}, "by one who is no system administrator");
    log.user = admin;
    log.refused(delete_organization{first}, "the first");
    log.refused(delete_organization{organization_id{nobody.value}}, "that there is none of");
    set_role role = role_named("Editor");
    role.org_id = research;
    log.done(role);
    set_group group = group_named("Reviewers");
    group.org_id = research;
    log.done(group);
    log.refused(delete_organization{research}, "that holds something");
    log.done(delete_role{research, role_id{editor.value + 1}});
    log.done(delete_group{research, group_id{reviewers.value + 1}});
    create_service_account account = account_command("clerk@example.org");
    account.org_id = research;
    log.done(account);
    log.refused(delete_organization{research}, "that has a service account");
    log.done(delete_service_account{user_id{robot.value + 2}, research});
    log.done(delete_workspace{research, workspace_id{fraud.value + 4}}, "that was the service account's own");
    log.done(delete_organization{research});
    log.done(no_operation{}, "while its members are swept");

    log.done(set_organization{{}, "Full"});
    const organization_id full{research.value + 1};
    for (std::uint64_t i = 0; i < 500; ++i) {
        schemas::role more;
        more.id.value = 10'000 + i;
        more.org_id = full;
        more.name = "role " + std::to_string(i);
        log.put_before_next(key_of(table::role).number(more.id), schemas::encode(more));
        schemas::group group_more;
        group_more.id.value = 10'000 + i;
        group_more.org_id = full;
        group_more.name = "group " + std::to_string(i);
        if (i < 400)
            log.put_before_next(key_of(table::group).number(group_more.id), schemas::encode(group_more));
    }
    role.org_id = group.org_id = full;
    log.refused(role, "more than there may be");
    log.refused(group, "more than there may be");
}

}  // namespace

void tell_of_identity(golden_writer& log) {
    count_from_base(log);
    tell_of_changed_users(log);
    tell_of_keys(log);
    tell_of_sessions(log);
    tell_of_administrators(log);
    tell_of_service_accounts(log);
    tell_of_groups(log);
    tell_of_roles(log);
    tell_of_workspaces(log);
    tell_of_removals(log);
    tell_of_the_end_of_an_organization(log);
}

}  // namespace herald::test
