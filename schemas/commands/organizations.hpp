// Organisations with their users, groups, roles and workspaces. Numbers 11, 102 to 112.
//
// An id in a `set_…` command names the record to change; 0: a new one.
#pragma once

#include "schemas/commands/envelope.hpp"
#include "schemas/identity.hpp"

namespace herald::schemas::commands {

/// → group_members
struct add_group_users {
    static constexpr command_type type{11};

    organization_id org_id;
    schemas::group_id group_id;
    std::vector<schemas::user_id> user_id;

    HERALD_DESCRIBE(org_id, group_id, user_id);
};

/// → organization
struct set_organization {
    static constexpr command_type type{102};

    organization_id id;
    std::string name;

    HERALD_DESCRIBE(id, name);
};

/// → nothing
struct delete_organization {
    static constexpr command_type type{103};
    static constexpr command_traits traits{.passes_full_disk = true};

    organization_id id;

    HERALD_DESCRIBE(id);
};

/// → user
struct add_organization_user {
    static constexpr command_type type{104};

    organization_id org_id;
    std::string email;

    HERALD_DESCRIBE(org_id, email);
};

/// → nothing
struct remove_organization_user {
    static constexpr command_type type{105};
    static constexpr command_traits traits{.passes_full_disk = true};

    organization_id org_id;
    schemas::user_id user_id;

    HERALD_DESCRIBE(org_id, user_id);
};

/// → group_members
struct set_group {
    static constexpr command_type type{106};

    organization_id org_id;
    group_id id;
    std::string name;
    std::string description;

    HERALD_DESCRIBE(org_id, id, name, description);
};

/// → nothing
struct delete_group {
    static constexpr command_type type{107};
    static constexpr command_traits traits{.passes_full_disk = true};

    organization_id org_id;
    group_id id;

    HERALD_DESCRIBE(org_id, id);
};

/// → group_members
struct remove_group_users {
    static constexpr command_type type{108};
    static constexpr command_traits traits{.passes_full_disk = true};

    organization_id org_id;
    schemas::group_id group_id;
    std::vector<schemas::user_id> user_id;

    HERALD_DESCRIBE(org_id, group_id, user_id);
};

/// → role
struct set_role {
    static constexpr command_type type{109};

    organization_id org_id;
    role_id id;
    std::string name;
    std::string description;
    std::vector<resource_actions> actions;
    bool reports_scans = false;

    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(org_id, id, name, description);
        field(5, "resource_actions", self.actions);
        field(6, "reports_scans", self.reports_scans);
    }
};

/// → nothing
struct delete_role {
    static constexpr command_type type{110};
    static constexpr command_traits traits{.passes_full_disk = true};

    organization_id org_id;
    role_id id;

    HERALD_DESCRIBE(org_id, id);
};

/// → workspace
struct set_workspace {
    static constexpr command_type type{111};

    organization_id org_id;
    workspace_id id;
    std::string name;
    std::string description;
    std::string name_space;
    std::vector<permission> permissions;

    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(org_id, id, name, description);
        field(5, "namespace", self.name_space);
        field(6, "permissions", self.permissions);
    }
};

/// → nothing
struct delete_workspace {
    static constexpr command_type type{112};
    static constexpr command_traits traits{.passes_full_disk = true};

    organization_id org_id;
    workspace_id id;

    HERALD_DESCRIBE(org_id, id);
};

/// Adds a permission to those of a workspace, or removes it; the others stay. → workspace
struct change_permission {
    static constexpr command_type type{113};

    organization_id org_id;
    workspace_id id;
    schemas::permission permission;
    bool removes = false;

    HERALD_DESCRIBE(org_id, id, permission, removes);
};

using organization_commands =
    command_list<set_organization, delete_organization, add_organization_user, remove_organization_user>;
using group_commands = command_list<add_group_users, set_group, delete_group, remove_group_users>;
using role_commands = command_list<set_role, delete_role>;
using workspace_commands = command_list<set_workspace, delete_workspace, change_permission>;

}  // namespace herald::schemas::commands
