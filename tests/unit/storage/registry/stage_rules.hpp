// A version whose stage is asked for, reviewed and changed by several people.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "storage/registry/find/activities.hpp"
#include "storage/registry/tables/groups.hpp"
#include "storage/registry/tables/stages.hpp"
#include "storage/registry/tables/versions.hpp"
#include "storage/registry/tables/workspaces.hpp"
#include "tests/support/registry.hpp"
#include "tests/unit/storage/registry/whole_search.hpp"

namespace herald::test {

namespace tables = storage::registry::tables;

class stage_rules : public testing::Test {
  protected:
    using activity = schemas::activity;
    using activity_id = schemas::activity_id;
    using stage = schemas::stage;
    using user_id = schemas::user_id;

    registry registry;
    user_id other = registry.second_admin();
    schemas::registered_model model = registry.model_named("m");
    schemas::model_version version = registry.version_named("v1", model.id);

    schemas::commands::outcome set(schemas::workspace_policies policies,
                                   const std::string& workspace = "default") {
        return registry.run(schemas::commands::set_policies{workspace, std::move(policies), false});
    }
    schemas::commands::outcome update(stage to, user_id by = admin) {
        return registry.run_as(by, schemas::commands::update_stage{version.id, to, "why"});
    }
    schemas::commands::outcome ask_for(stage to, user_id by = admin) {
        return registry.run_as(by, schemas::commands::create_transition{version.id, to, ""});
    }
    activity_id transition_to(stage to) { return schemas::decode<activity>(ask_for(to).body)->id; }
    activity review(user_id by, activity_id transition, bool approve) {
        return registry.must<activity>(by, schemas::commands::review_transition{transition, approve, "seen"});
    }
    schemas::commands::outcome commit(activity_id transition) {
        return registry.run(schemas::commands::commit_transition{transition, ""});
    }
    schemas::model_version stored() { return *tables::versions::find(*registry.view(), version.id); }
    schemas::promotion promotion() {
        return tables::promotions::find(*registry.view(), version.id).value_or(schemas::promotion{});
    }
    /// In the built-in group All Users, which may do this with models in the organisation's workspace.
    user_id member(const std::string& email, std::vector<schemas::action> may) {
        const user_id user = registry.user_named(email).id;
        auto role = *tables::roles::find(*registry.view(), schemas::role_id{3});
        role.id.value = 50 + user.value;
        role.built_in = false;
        role.actions = {{schemas::protected_type::registered_model, std::move(may)}};
        registry.put(tables::key_of(tables::table::role).number(role.id), role);
        schemas::group group;
        group.id.value = 50 + user.value;
        group.org_id.value = 1;
        registry.put(tables::key_of(tables::table::group).number(group.id), group);
        auto workspace = *tables::workspaces::find(*registry.view(), schemas::workspace_id{1});
        workspace.permissions.push_back({group.id, role.id});
        registry.put(tables::key_of(tables::table::workspace).number(1), workspace);
        schemas::commands::add_group_users add;
        add.org_id.value = 1;
        add.group_id = group.id;
        add.user_id = {user};
        EXPECT_EQ(registry.run(add).code, 0u);
        return user;
    }
    /// Takes everything from the member again.
    void dismiss(user_id user) {
        auto workspace = *tables::workspaces::find(*registry.view(), schemas::workspace_id{1});
        std::erase_if(workspace.permissions,
                      [&](const auto& each) { return each.group_id.value == 50 + user.value; });
        registry.put(tables::key_of(tables::table::workspace).number(1), workspace);
    }
    std::vector<std::uint64_t> ids(const result<found_page<activity>>& page) {
        std::vector<std::uint64_t> out;
        EXPECT_TRUE(page) << page.error().message;
        if (page)
            for (const activity& each : page->rows) out.push_back(each.id.value);
        return out;
    }
    result<found_page<activity>> transitions(user_id user,
                                             const storage::registry::find::transition_filter& filter,
                                             const storage::registry::find::history_place& place = {}) {
        return whole(storage::registry::find::search_transitions(*registry.view(), user, place, filter, {}));
    }
};

}  // namespace herald::test
