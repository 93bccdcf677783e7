// Answers about users, workspaces and organisations (wire.md §2).
#pragma once

#include "schemas/answers/answer.hpp"
#include "schemas/identity.hpp"

namespace herald::schemas::answers {

struct user_names {
    user_id id;
    std::string username;
    schemas::workspace_id default_workspace_id;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "user_id", self.id);
        field(2, "username", self.username);
        field(3, "default_workspace_id", self.default_workspace_id);
    }
};

/// The keys: only in the answer to the creation and its repeats.
struct user {
    std::string email;
    std::string full_name;
    std::string dev_key;
    user_names verta_info;
    std::string secondary_dev_key;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "email", self.email);
        field(2, "full_name", self.full_name);
        field(3, "dev_key", self.dev_key, shown::when_set);
        field(4, "verta_info", self.verta_info);
        field(5, "secondary_dev_key", self.secondary_dev_key, shown::when_set);
    }
};

user of(schemas::user);

struct user_info : one<"info", user> {};

struct user_infos : page<"user_infos", user> {};

struct user_answer : one<"user", answers::user> {};

struct users : page<"users", user> {};

struct system_admins : page<"user_ids", schemas::user_id> {};

/// The answer of a call that has nothing else to say.
struct accepted {
    bool status = true;

    HERALD_DESCRIBE(status);
};

struct new_session {
    std::string session_secret_key;
    std::int64_t ttl_epoch = 0;
    session_id id;

    HERALD_DESCRIBE(session_secret_key, ttl_epoch, id);
};

struct session {
    session_id id;
    schemas::user_id verta_user_id;
    std::string name;
    std::int64_t ttl_epoch = 0;
    std::int64_t time_created = 0;

    HERALD_DESCRIBE(id, verta_user_id, name, ttl_epoch, time_created);
};

session of(schemas::session);

struct sessions : page<"sessions", session> {};

/// primary_key: only in the answer to the creation and its repeats.
struct service_account {
    schemas::user_id id;
    organization_id org_id;
    std::string email;
    std::string username;
    std::string description;
    workspace_id associated_workspace_id;
    std::string primary_key;
    std::int64_t time_created = 0;

    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(id, org_id, email, username, description, associated_workspace_id);
        field(7, "primary_key", self.primary_key, shown::when_set);
        field(8, "time_created", self.time_created);
    }
};

service_account account_of(schemas::user);

struct service_account_answer : one<"service_account", answers::service_account> {};

struct service_accounts : page<"service_accounts", service_account> {};

struct connection {
    bool status = false;

    HERALD_DESCRIBE(status);
};

/// The v1 form: with org_id and org_name for an organisation's workspace, with user_id and username for a
/// personal one.
struct workspace {
    schemas::workspace_id id;
    organization_id org_id;
    std::string org_name;
    schemas::user_id owner;
    std::string username;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "org_id", self.org_id, shown::when_set);
        field(3, "org_name", self.org_name, shown::when_set);
        field(4, "user_id", self.owner, shown::when_set);
        field(5, "username", self.username, shown::when_set);
    }
};

workspace of(schemas::workspace);

struct workspaces : page<"workspace", answers::workspace> {};

struct organization_name {
    organization_id id;
    std::string name;

    HERALD_DESCRIBE(id, name);
};

struct organization_answer : one<"organization", organization_name> {};

struct organization_record : one<"organization", schemas::organization> {};

struct organizations : page<"organizations", schemas::organization> {};

struct group_answer : one<"group", schemas::group_members> {};

struct groups : page<"groups", schemas::group> {};

struct roles : page<"roles", schemas::role> {};

struct role_answer : one<"role", schemas::role> {};

/// The v2 form: with its permissions.
struct organization_workspace {
    schemas::workspace_id id;
    organization_id org_id;
    std::string name;
    std::vector<permission> permissions;
    std::string description;
    std::string name_space;
    bool built_in = false;
    std::int64_t time_created = 0;
    std::int64_t time_updated = 0;

    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(id, org_id, name, permissions, description);
        field(6, "namespace", self.name_space);
        field(7, "built_in", self.built_in);
        field(8, "created_timestamp", self.time_created);
        field(9, "updated_timestamp", self.time_updated);
    }
};

organization_workspace with_permissions(schemas::workspace);

struct workspace_record : one<"workspace", organization_workspace> {};

struct workspace_records : page<"workspaces", organization_workspace> {};

}  // namespace herald::schemas::answers
