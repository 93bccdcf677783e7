// Protects who may do what when users, groups, roles and service accounts change: each change counts from its
// offset on, and what ends leaves nothing open (wire.md §2).
#include <gmock/gmock.h>

#include "storage/registry/find/directory.hpp"
#include "storage/registry/tables/groups.hpp"
#include "storage/registry/tables/users.hpp"
#include "tests/unit/storage/registry/identity.hpp"

namespace herald::test {
namespace {

using namespace schemas::commands;
using namespace storage::registry;
using schemas::action;
using schemas::group_id;
using schemas::protected_type;
using schemas::role_id;
using schemas::session_id;
using schemas::user_id;

TEST_F(identity, a_role_counts_from_its_change_on) {
    const auto role = role_of({action::read});
    workspace_of({{all_users, role.id}});
    EXPECT_TRUE(may(plain, action::read));
    EXPECT_FALSE(may(plain, action::update));
    role_of({action::read, action::update}, role.id);
    EXPECT_TRUE(may(plain, action::update));
    role_of({action::update}, role.id);
    EXPECT_FALSE(may(plain, action::read));
}

TEST_F(identity, a_member_counts_from_joining_to_leaving) {
    const auto group = group_named("readers");
    workspace_of({{group.id, role_of({action::read}).id}});
    EXPECT_FALSE(may(plain, action::read));
    done(add_group_users{first, group.id, {plain}});
    EXPECT_TRUE(may(plain, action::read));
    done(remove_group_users{first, group.id, {plain}});
    EXPECT_FALSE(may(plain, action::read));
    done(add_group_users{first, group.id, {plain}});
    done(remove_organization_user{first, plain});
    EXPECT_FALSE(may(plain, action::read));
}

TEST_F(identity, a_role_or_group_in_use_stays_and_the_refusal_names_the_workspace) {
    const auto role = role_of({action::read});
    const auto group = group_named("readers");
    workspace_of({{group.id, role.id}});
    for (const auto& refused :
         {registry.run(delete_role{first, role.id}), registry.run(delete_group{first, group.id})}) {
        EXPECT_EQ(code_of(refused), error_code::failed_precondition);
        EXPECT_THAT(refused.message, testing::HasSubstr("\"shared\""));
    }
}

TEST_F(identity, a_removed_user_leaves_a_record_and_nothing_else) {
    const auto group = group_named("readers");
    workspace_of({{group.id, role_of({action::read}).id}});
    done(add_group_users{first, group.id, {plain}});
    done(create_session{plain, "nightly", 60, "k1", hash_of("session")});
    registry.idempotency_key = "of a user";
    create_model model;
    model.workspace_name = "b@example.org";
    model.model.name = "m";
    ASSERT_EQ(registry.run_as(plain, model).code, 0u);
    registry.idempotency_key.clear();
    EXPECT_TRUE(may(plain, action::read));

    done(remove_user{plain});
    EXPECT_FALSE(may(plain, action::read));
    EXPECT_FALSE(knows("b@example.org", std::string(admin_key)));
    EXPECT_FALSE(knows("b@example.org", "session"));
    EXPECT_EQ(tables::users::find(*registry.view(), plain)->email, "b@example.org");
    registry.idempotency_key = "of a user";
    EXPECT_EQ(code_of(registry.run_as(plain, model)), error_code::unauthenticated) << "a repeat, too";
    registry.idempotency_key.clear();

    const auto handed = access::workspace_named(
        *registry.view(), "b@example.org (removed " + std::to_string(plain.value) + ")");
    ASSERT_TRUE(handed);
    EXPECT_EQ(handed->org_id, first);
    EXPECT_TRUE(access::is_workspace_admin(*registry.view(), registry.admin, *handed));
    const auto again = registry.user_named("b@example.org");
    EXPECT_NE(again.id, plain) << "the e-mail is free";
}

TEST_F(identity, emails_and_usernames_are_one_set_of_names) {
    create_user named;
    named.email = "c@example.org";
    named.username = "later@example.org";
    named.key_hash = admin_key_hash();
    named.user_uuid = some_uuid;
    done(named);
    create_user other = named;
    other.email = "Later@example.org";
    other.username = "later";
    EXPECT_EQ(code_of(registry.run(other)), error_code::already_exists)
        << "a username cannot become an e-mail";
    other.email = "d@example.org";
    other.username = "B@example.org";
    EXPECT_EQ(code_of(registry.run(other)), error_code::already_exists) << "nor an e-mail a username";
}

TEST_F(identity, an_organization_stays_while_it_has_service_accounts) {
    const auto org = registry.must<schemas::organization>(set_organization{{}, "Research"}).id;
    create_service_account account;
    account.org_id = org;
    account.email = "bot@example.org";
    account.key_name = "k1";
    account.key_hash = admin_key_hash();
    account.user_uuid = some_uuid;
    const auto bot = registry.must<schemas::user>(account).id;
    const auto refused = registry.run(delete_organization{org});
    EXPECT_EQ(code_of(refused), error_code::failed_precondition);
    EXPECT_THAT(refused.message, testing::HasSubstr("1 service account"));
    done(delete_service_account{bot, org});
    EXPECT_THAT(registry.run(delete_organization{org}).message, testing::HasSubstr("1 workspace"))
        << "the account's own one is the organization's now";
}

TEST_F(identity, users_are_seen_by_those_who_share_an_organization_with_them) {
    const auto other = registry.user_named("c@example.org").id;
    const auto seen = [&](user_id viewer) {
        std::vector<user_id> all;
        const auto view = registry.view();
        const auto page = whole(find::search_users(*view, viewer, {}));
        for (const auto& each : page->rows) all.push_back(each.id);
        return all;
    };
    EXPECT_THAT(seen(plain), testing::ElementsAre(registry.admin, plain, other));
    const auto org = registry.must<schemas::organization>(set_organization{{}, "Research"}).id;
    done(add_organization_user{org, "c@example.org"});
    done(remove_organization_user{first, other});
    EXPECT_THAT(seen(plain), testing::ElementsAre(registry.admin, plain));
    EXPECT_THAT(seen(registry.admin), testing::ElementsAre(registry.admin, plain, other));
    EXPECT_THAT(seen(other), testing::ElementsAre(registry.admin, other)) << "who founded it";
    const auto view = registry.view();
    const find::wanted_users named{{other}, {"c@example.org"}, {}, {}};
    EXPECT_EQ(whole(find::search_users(*view, plain, named))->rows.size(), 0u);
}

TEST_F(identity, a_service_account_of_no_named_organization_is_of_the_one_that_its_maker_looks_after) {
    set_organization founding;
    founding.name = "research";
    const auto org = registry.must<schemas::organization>(founding).id;
    done(add_organization_user{org, "b@example.org"});
    done(remove_organization_user{first, plain});
    std::vector<group_id> admins;
    storage::registry::tables::groups::each(*registry.view(), [&](const schemas::group& group) {
        if (group.org_id == org && group.name == "Admins") admins.push_back(group.id);
        return true;
    });
    ASSERT_EQ(admins.size(), 1u);
    done(add_group_users{org, admins.front(), {plain}});
    create_service_account account;
    account.email = "bot@example.org";
    account.key_name = "k1";
    account.key_hash = admin_key_hash();
    account.user_uuid = some_uuid;
    EXPECT_EQ(registry.must<schemas::user>(plain, account).org_id, org);
    account.email = "another@example.org";
    EXPECT_EQ(registry.must<schemas::user>(account).org_id, first);
}

TEST_F(identity, a_service_account_that_is_a_system_administrator_is_for_system_administrators_only) {
    done(add_group_users{first, group_id{1}, {plain}});  // Admins
    create_service_account account;
    account.org_id = first;
    account.email = "bot@example.org";
    account.key_name = "k1";
    account.key_hash = admin_key_hash();
    account.user_uuid = some_uuid;
    const auto bot = registry.must<schemas::user>(plain, account).id;
    update_service_account update;
    update.id = bot;
    update.description = "changed";
    update_user naming;
    naming.user_id = bot;
    naming.full_name = "Bot";
    const auto codes = [&](const std::string& key) {
        return std::vector{code_of(registry.run_as(plain, add_key{bot, "k1", hash_of(key)})),
                           code_of(registry.run_as(plain, create_session{bot, key, 60, "k1", hash_of(key)})),
                           code_of(registry.run_as(plain, remove_key{bot, true})),
                           code_of(registry.run_as(plain, naming)), code_of(registry.run_as(plain, update))};
    };
    EXPECT_THAT(codes("before"), testing::Each(error_code{}));
    EXPECT_THAT(sessions_seen_by(plain), testing::Contains("before"))
        << "made above, and ended by whoever looks after";
    EXPECT_EQ(code_of(registry.run_as(plain, delete_sessions{{session_id{1}}})), error_code{});
    EXPECT_THAT(sessions_seen_by(plain), testing::Not(testing::Contains("before")));
    done(create_session{bot, "the bot's", 60, "k1", hash_of("the bot's")});
    done(set_system_admin{"bot@example.org", true});
    EXPECT_THAT(codes("since"), testing::Each(error_code::permission_denied));
    EXPECT_EQ(code_of(registry.run_as(plain, delete_sessions{{session_id{2}}})), error_code::not_found);
    EXPECT_THAT(sessions_seen_by(plain), testing::IsEmpty());
    EXPECT_EQ(code_of(registry.run_as(plain, delete_service_account{bot, first})),
              error_code::permission_denied);
    EXPECT_FALSE(knows("bot@example.org", "since"));
    done(update);
    done(delete_service_account{bot, first});
}

TEST_F(identity, the_scanner_reports_and_the_approver_approves) {
    const auto with = [&](const std::string& role) {
        for (const auto& each : find::roles_of(*registry.view(), first))
            if (each.name == role) return each.id;
        return role_id{};
    };
    const auto workspace = workspace_of({{all_users, with("Scanner")}});
    const auto reports = [&] {
        const auto view = registry.view();
        return access::may_report_scans(*view, plain, *access::find_workspace(*view, workspace.id));
    };
    EXPECT_TRUE(reports());
    EXPECT_FALSE(may(plain, action::update));
    EXPECT_FALSE(access::is_allowed(*registry.view(), plain,
                                    *access::find_workspace(*registry.view(), workspace.id),
                                    protected_type::endpoint, action::read))
        << "endpoints, their logs and tokens";
    workspace_of({{all_users, with("Approver")}}, workspace.id);
    EXPECT_FALSE(reports());
    EXPECT_TRUE(may(plain, action::approve_reject));
    EXPECT_FALSE(may(plain, action::update));
}

TEST_F(identity, the_first_administrator_stays_where_a_workspace_is_sure) {
    constexpr group_id admins{1};
    EXPECT_EQ(code_of(registry.run(remove_group_users{first, admins, {plain, registry.admin}})),
              error_code::failed_precondition);
    EXPECT_EQ(code_of(registry.run(remove_organization_user{first, registry.admin})),
              error_code::failed_precondition);
    const auto view = registry.view();
    const auto shown = access::default_workspace_of(*view, *tables::users::find(*view, registry.admin));
    EXPECT_TRUE(access::is_visible(*view, registry.admin, *access::find_workspace(*view, shown)));
    const auto other = group_named("others");
    done(add_group_users{first, other.id, {registry.admin}});
    done(remove_group_users{first, other.id, {registry.admin}});
}

TEST_F(identity, what_is_not_there_is_said_before_what_may_not_be_done_and_what_is_too_much) {
    update_user named;
    named.username = "new";
    named.default_workspace_id.value = 99;
    EXPECT_EQ(code_of(registry.run_as(plain, named)), error_code::not_found);
    named.default_workspace_id = {};
    EXPECT_EQ(code_of(registry.run_as(plain, named)), error_code::permission_denied);

    set_workspace crowded;
    crowded.org_id = first;
    crowded.name = "crowded";
    crowded.permissions = std::vector<schemas::permission>(101, {all_users, role_id{1}});
    EXPECT_EQ(code_of(registry.run(crowded)), error_code::invalid_argument);
    crowded.permissions.push_back({group_id{99}, role_id{1}});
    EXPECT_EQ(code_of(registry.run(crowded)), error_code::not_found);

    const auto session =
        registry.must<schemas::session>(plain, create_session{{}, "s", 60, "k1", hash_of("s")});
    delete_sessions many{std::vector<schemas::session_id>(101, session.id)};
    EXPECT_EQ(code_of(registry.run_as(plain, many)), error_code::invalid_argument);
    many.ids.push_back(schemas::session_id{99});
    EXPECT_EQ(code_of(registry.run_as(plain, many)), error_code::not_found);
    EXPECT_TRUE(knows("b@example.org", "s"));
}

}  // namespace
}  // namespace herald::test
