// Endpoints with stages and tokens in the organisation's workspace, and who may change them.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "schemas/commands/endpoints.hpp"
#include "storage/registry/tables/endpoints.hpp"
#include "storage/registry/tables/workspaces.hpp"
#include "tests/support/registry.hpp"

namespace herald::test {

inline schemas::commands::new_access_token token_with(const std::string& value) {
    schemas::commands::new_access_token token;
    token.hash = runtime::as_bytes(runtime::sha256(value));
    token.sealed_value = "sealed " + value;
    token.seal_binding = "binding of " + value;
    return token;
}

class endpoint_rules : public testing::Test {
  protected:
    registry registry;

    schemas::commands::create_endpoint new_endpoint(const std::string& path) {
        schemas::commands::create_endpoint command;
        command.id[15] = ++x_made;
        command.workspace_name = "default";
        command.path = path;
        command.creator_request.text = R"({"path":")" + path + "\"}";
        return command;
    }
    schemas::endpoint endpoint_at(const std::string& path) {
        return registry.must<schemas::endpoint>(new_endpoint(path));
    }
    static schemas::commands::delete_endpoint remove(const schemas::endpoint& endpoint) {
        return {endpoint.id, "default"};
    }
    static schemas::commands::create_endpoint_stage new_stage(const schemas::endpoint& endpoint,
                                                              const std::string& name) {
        schemas::commands::create_endpoint_stage command;
        command.endpoint_id = endpoint.id;
        command.workspace_name = "default";
        command.name = name;
        command.token = token_with("the default one");
        command.creator_request.text = "{}";
        return command;
    }
    schemas::endpoint_stage stage_of(const schemas::endpoint& endpoint, const std::string& name) {
        return registry.must<schemas::endpoint_stage>(new_stage(endpoint, name));
    }
    static schemas::commands::create_access_token new_token(const schemas::endpoint& endpoint,
                                                            const schemas::endpoint_stage& stage,
                                                            const std::string& value) {
        schemas::commands::create_access_token command;
        command.endpoint_id = endpoint.id;
        command.workspace_name = "default";
        command.stage_id = stage.id;
        command.token = token_with(value);
        command.creator_request.text = "{}";
        return command;
    }
    static schemas::commands::delete_access_token revoke(const schemas::endpoint& endpoint,
                                                         const schemas::endpoint_stage& stage,
                                                         schemas::access_token_id id) {
        return {endpoint.id, "default", stage.id, id};
    }
    /// Members of All Users may do this with endpoints in the organisation's workspace.
    void permit(std::vector<schemas::action> may) {
        using storage::registry::tables::key_of;
        using storage::registry::tables::table;
        auto workspace =
            *storage::registry::tables::workspaces::find(*registry.view(), schemas::workspace_id{1});
        schemas::role role;
        role.id.value = 50;
        role.org_id.value = 1;
        role.name = "of the test";
        role.actions = {{schemas::protected_type::registered_model, {schemas::action::read}},
                        {schemas::protected_type::endpoint, std::move(may)}};
        registry.put(key_of(table::role).number(50), role);
        workspace.permissions = {{schemas::group_id{2}, role.id}};
        registry.put(key_of(table::workspace).number(1), workspace);
    }
    /// The keys of all rows that endpoints, stages, tokens, logs and their timers have.
    std::set<std::string> rows_of_endpoints() {
        using storage::registry::tables::table;
        std::set<std::string> keys;
        for (const table each :
             {table::endpoint, table::endpoint_by_path, table::endpoint_by_v2_name,
              table::endpoint_of_workspace, table::endpoint_stage, table::stage_of_endpoint,
              table::access_token, table::token_of_stage, table::token_by_hash, table::stage_log})
            registry.view()->scan(std::string(1, static_cast<char>(each)), {},
                                  [&](std::string_view key, std::string_view) {
                                      keys.emplace(key);
                                      return true;
                                  });
        const auto view = registry.view();
        storage::registry::tables::timers::each(*view, [&](const storage::registry::tables::timer& one) {
            if (one.kind == storage::registry::tables::timer_kind::access_token_end ||
                one.kind == storage::registry::tables::timer_kind::endpoint_stage_sweep)
                keys.insert("timer " + one.key);
            return true;
        });
        return keys;
    }

  private:
    std::uint8_t x_made = 0;
};

}  // namespace herald::test
