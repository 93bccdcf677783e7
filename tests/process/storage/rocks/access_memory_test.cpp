// Protects remembered access decisions (storage/registry/access/access_memory.hpp): they end when the rows
// behind them change, and an existing view keeps its answers.
#include <gtest/gtest.h>

#include "runtime/crypto.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/tables/tables.hpp"
#include "storage/rocks/rocks_state.hpp"
#include "tests/support/folder.hpp"

namespace herald::test {
namespace {

using namespace storage;
using namespace storage::registry::access;
using namespace storage::registry::state;
using namespace storage::registry::tables;
using namespace storage::rocks;

using schemas::action;
using schemas::protected_type;

class access_memory_test : public testing::Test {
  protected:
    void SetUp() override {
        user.id = schemas::user_id{7};
        user.email = "Ada@example.org";
        user.primary_key_hash = hash_of("first");
        workspace.id = schemas::workspace_id{3};
        workspace.org_id = schemas::organization_id{1};
        workspace.admins = schemas::group_id{1};
        workspace.permissions = {{schemas::group_id{2}, schemas::role_id{4}}};
        group.id = schemas::group_id{2};
        role.id = schemas::role_id{4};
        role.actions = {{protected_type::endpoint, {action::read}}};
        write([&](row_changes& rows) {
            rows[key_of(table::user_by_email).text("ada@example.org")] = std::string(1, '\x07');
            rows[key_of(table::user).number(user.id)] = schemas::encode(user);
            rows[key_of(table::workspace).number(workspace.id)] = schemas::encode(workspace);
            rows[key_of(table::role).number(role.id)] = schemas::encode(role);
            rows[key_of(table::group).number(2)] = schemas::encode(group);
            rows[member_key] = "";
        });
    }

    static std::string hash_of(std::string_view key) {
        return std::string(runtime::as_bytes(runtime::sha256(key)));
    }

    template <class Fill>
    void write(Fill fill) {
        row_changes rows;
        fill(rows);
        ASSERT_TRUE(store->write(rows).has_value());
    }

    bool may_read() const {
        const auto view = store->view();
        return is_allowed(*view, user.id, *find_workspace(*view, workspace.id), protected_type::endpoint,
                          action::read);
    }
    bool knows(std::string_view email, std::string_view key) const {
        return user_with_key(*store->view(), email, hash_of(key)) != nullptr;
    }

    temporary_folder folder;
    std::unique_ptr<rocks_state> store = std::move(open_rocks_state(folder / "state").value().store);
    schemas::user user;
    schemas::workspace workspace;
    schemas::role role;
    schemas::group group;
    const std::string member_key =
        key_of(table::group_member).number(schemas::group_id{2}).number(schemas::user_id{7});
};

TEST_F(access_memory_test, a_member_who_left_may_no_longer_read) {
    ASSERT_TRUE(may_read());
    const auto before = store->view();
    write([&](row_changes& rows) { rows[member_key] = std::nullopt; });
    EXPECT_FALSE(may_read());
    EXPECT_TRUE(is_allowed(*before, user.id, workspace, protected_type::endpoint, action::read))
        << "that view stands still";
}

TEST_F(access_memory_test, a_role_that_changed_gives_what_it_says_now) {
    ASSERT_TRUE(may_read());
    role.actions = {{protected_type::endpoint, {action::predict}}};
    write([&](row_changes& rows) { rows[key_of(table::role).number(role.id)] = schemas::encode(role); });
    EXPECT_FALSE(may_read());
}

TEST_F(access_memory_test, a_workspace_that_changed_is_read_again) {
    ASSERT_TRUE(may_read());
    workspace.permissions.clear();
    write([&](row_changes& rows) {
        rows[key_of(table::workspace).number(workspace.id)] = schemas::encode(workspace);
    });
    EXPECT_FALSE(may_read());
}

TEST_F(access_memory_test, a_key_opens_only_for_its_own_e_mail_and_only_while_it_is_the_users) {
    ASSERT_TRUE(knows("ada@EXAMPLE.org", "first"));
    EXPECT_TRUE(knows("Ada@example.org", "first"));
    EXPECT_FALSE(knows("bob@example.org", "first"));
    EXPECT_FALSE(knows("ada@example.org", "second"));
    user.primary_key_hash = hash_of("second");
    write([&](row_changes& rows) { rows[key_of(table::user).number(user.id)] = schemas::encode(user); });
    EXPECT_FALSE(knows("ada@example.org", "first"));
    EXPECT_TRUE(knows("ada@example.org", "second"));
}

TEST_F(access_memory_test, a_group_that_is_gone_gives_nothing_though_its_members_are_still_there) {
    ASSERT_TRUE(may_read());
    write([&](row_changes& rows) { rows[key_of(table::group).number(2)] = std::nullopt; });
    EXPECT_FALSE(may_read());
}

TEST_F(access_memory_test, a_removed_user_may_nothing_though_his_memberships_are_still_there) {
    ASSERT_TRUE(may_read());
    user.removed = true;
    write([&](row_changes& rows) { rows[key_of(table::user).number(user.id)] = schemas::encode(user); });
    EXPECT_FALSE(may_read());
}

TEST_F(access_memory_test, a_session_opens_until_its_row_is_gone) {
    ASSERT_FALSE(knows("ada@example.org", "session"));
    schemas::session session;
    session.id = schemas::session_id{5};
    session.user_id = user.id;
    session.key_hash = hash_of("session");
    session.made_by = user.id;
    session.made_with = user.primary_key_hash;
    const std::string by_key = key_of(table::session_by_key).number(user.id).text(session.key_hash);
    const std::string row = key_of(table::session).number(session.id);
    write([&](row_changes& rows) {
        rows[row] = schemas::encode(session);
        rows[by_key] = std::string(1, '\x05');
    });
    ASSERT_TRUE(knows("ada@example.org", "session"));
    EXPECT_FALSE(knows("bob@example.org", "session"));
    write([&](row_changes& rows) { rows[row] = rows[by_key] = std::nullopt; });
    EXPECT_FALSE(knows("ada@example.org", "session"));
}

TEST_F(access_memory_test, other_rows_leave_it_as_it_is) {
    ASSERT_TRUE(may_read());
    view_memory* const before = store->view()->memory();
    write([&](row_changes& rows) { rows[key_of(table::model).number(1)] = "x"; });
    EXPECT_EQ(store->view()->memory(), before);
}

}  // namespace
}  // namespace herald::test
