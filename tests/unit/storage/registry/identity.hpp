// An organisation whose groups, roles and workspaces change, and one user who is plain.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "storage/registry/access/access.hpp"
#include "storage/registry/find/users.hpp"
#include "tests/support/registry.hpp"
#include "tests/unit/storage/registry/whole_search.hpp"

namespace herald::test {

inline constexpr schemas::organization_id first{1};
inline constexpr schemas::group_id all_users{2};

inline std::string hash_of(const std::string& key) {
    return std::string(runtime::as_bytes(runtime::sha256(key)));
}

class identity : public testing::Test {
  protected:
    using action = schemas::action;
    using role_id = schemas::role_id;
    using workspace_id = schemas::workspace_id;
    using user_id = schemas::user_id;

    schemas::role role_of(const std::vector<action>& actions, role_id id = {}) {
        schemas::commands::set_role command;
        command.org_id = first;
        command.id = id;
        command.name = "role";
        command.actions = {{schemas::protected_type::registered_model, actions}};
        return registry.must<schemas::role>(command);
    }
    schemas::group group_named(const std::string& name) {
        schemas::commands::set_group command;
        command.org_id = first;
        command.name = name;
        return registry.must<schemas::group_members>(command).group;
    }
    schemas::workspace workspace_of(const std::vector<schemas::permission>& permissions,
                                    workspace_id id = {}) {
        schemas::commands::set_workspace command;
        command.org_id = first;
        command.id = id;
        command.name = "shared";
        command.permissions = permissions;
        return registry.must<schemas::workspace>(command);
    }
    template <class Command>
    void done(const Command& command) {
        const auto outcome = registry.run(command);
        EXPECT_EQ(outcome.code, 0u) << outcome.message;
    }
    bool may(user_id user, action what) {
        const auto view = registry.view();
        const auto workspace = storage::registry::access::workspace_named(*view, "shared");
        return workspace && storage::registry::access::is_allowed(
                                *view, user, *workspace, schemas::protected_type::registered_model, what);
    }
    bool knows(const std::string& email, const std::string& key) {
        return storage::registry::access::user_with_key(*registry.view(), email, hash_of(key)) != nullptr;
    }

    std::vector<std::string> sessions_seen_by(user_id user) {
        std::vector<std::string> names;
        const auto view = registry.view();
        const auto found = whole(storage::registry::find::search_sessions(*view, user, {}));
        for (const schemas::session& session : found->rows) names.push_back(session.name);
        return names;
    }

    test::registry registry;
    user_id plain = registry.user_named("b@example.org").id;
};

}  // namespace herald::test
