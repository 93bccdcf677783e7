// Bodies about organisations, groups, roles and workspaces (wire.md §2). With an id: the record to change.
#pragma once

#include "schemas/identity.hpp"
#include "schemas/requests/request.hpp"

namespace herald::schemas::requests {

struct sent_organization {
    organization_id id;
    std::string name;

    static constexpr std::array<std::string_view, 1> required{"name"};
    static constexpr std::array server_owned{owned{"created_timestamp"}};
    HERALD_DESCRIBE(id, name);
};

struct set_organization {
    std::optional<sent_organization> organization;

    static constexpr std::array<std::string_view, 1> required{"organization"};
    static constexpr std::string_view example = R"({"organization":{"name":"Research"}})";
    HERALD_DESCRIBE(organization);
};

struct add_organization_user {
    std::string email;

    static constexpr std::array<std::string_view, 1> required{"email"};
    static constexpr std::string_view example = R"({"email":"ada@example.org"})";
    HERALD_DESCRIBE(email);
};

struct sent_group {
    organization_id org_id;  // the path says it already
    group_id id;
    std::string name;
    std::string description;

    static constexpr std::array<std::string_view, 1> required{"name"};
    static constexpr std::array server_owned{owned{"built_in"}, owned{"created_timestamp"},
                                             owned{"member_ids", "is changed by …/users and …/removeUsers"}};
    HERALD_DESCRIBE(org_id, id, name, description);
};

struct set_group {
    std::optional<sent_group> group;

    static constexpr std::array<std::string_view, 1> required{"group"};
    static constexpr std::string_view example = R"({"group":{"name":"Reviewers"}})";
    HERALD_DESCRIBE(group);
};

struct add_group_users {
    std::vector<schemas::user_id> user_id;

    static constexpr std::string_view example = R"({"user_id":["2","3"]})";
    HERALD_DESCRIBE(user_id);
};

struct sent_role {
    organization_id org_id;  // the path says it already
    role_id id;
    std::string name;
    std::string description;
    std::vector<schemas::resource_actions> resource_actions;
    bool reports_scans = false;

    static constexpr std::array<std::string_view, 1> required{"name"};
    static constexpr std::array server_owned{owned{"built_in"}, owned{"created_timestamp"}};
    HERALD_DESCRIBE(org_id, id, name, description, resource_actions, reports_scans);
};

struct set_role {
    std::optional<sent_role> role;

    static constexpr bool strict = true;
    static constexpr std::array<std::string_view, 1> required{"role"};
    static constexpr std::string_view example =
        R"({"role":{"name":"Editor of models","resource_actions":[{"resource_type":"REGISTERED_MODEL","allowed_actions":["READ","UPDATE"]}]}})";
    HERALD_DESCRIBE(role);
};

struct sent_workspace {
    organization_id org_id;  // the path says it already
    workspace_id id;
    std::string name;
    std::string description;
    std::string name_space;
    std::vector<permission> permissions;

    static constexpr std::array<std::string_view, 1> required{"name"};
    static constexpr std::array server_owned{owned{"built_in"}, owned{"created_timestamp"},
                                             owned{"updated_timestamp"}};
    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(org_id, id, name, description);
        field(5, "namespace", self.name_space);
        field(6, "permissions", self.permissions);
    }
};

/// POST adds it to the workspace's permissions, DELETE removes it.
struct change_permission {
    schemas::group_id group_id;
    schemas::role_id role_id;

    static constexpr bool strict = true;
    static constexpr std::array<std::string_view, 2> required{"group_id", "role_id"};
    static constexpr std::string_view example = R"({"group_id":"2","role_id":"3"})";
    HERALD_DESCRIBE(group_id, role_id);
};

struct set_workspace {
    std::optional<sent_workspace> workspace;

    static constexpr bool strict = true;
    static constexpr std::array<std::string_view, 1> required{"workspace"};
    static constexpr std::string_view example =
        R"({"workspace":{"name":"fraud","permissions":[{"group_id":"2","role_id":"3"}]}})";
    HERALD_DESCRIBE(workspace);
};

}  // namespace herald::schemas::requests
