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

/// dev_key: only in the answer to the creation and its repeats.
struct user {
    std::string email;
    std::string full_name;
    std::string dev_key;
    user_names verta_info;

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "email", self.email);
        field(2, "full_name", self.full_name);
        field(3, "dev_key", self.dev_key, shown::when_set);
        field(4, "verta_info", self.verta_info);
    }
};

user of(schemas::user);

struct user_info {
    user info;

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) { field(1, "info", self.info); }
};

struct connection {
    bool status = false;

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) { field(1, "status", self.status); }
};

/// The v1 form: with org_id and org_name for an organisation's workspace, with user_id and username for a
/// personal one.
struct workspace {
    schemas::workspace_id id;
    organization_id org_id;
    std::string org_name;
    schemas::user_id owner;
    std::string username;

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "org_id", self.org_id, shown::when_set);
        field(3, "org_name", self.org_name, shown::when_set);
        field(4, "user_id", self.owner, shown::when_set);
        field(5, "username", self.username, shown::when_set);
    }
};

workspace of(schemas::workspace);

struct workspaces {
    std::vector<answers::workspace> workspace;
    std::uint64_t total_records = 0;

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "workspace", self.workspace);
        field(2, "total_records", self.total_records);
    }
};

struct organization_name {
    organization_id id;
    std::string name;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "name", self.name);
    }
};

struct organization_answer {
    organization_name organization_;

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) { field(1, "organization", self.organization_); }
};

struct organizations {
    std::vector<schemas::organization> organizations_;
    std::uint64_t total_records = 0;

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "organizations", self.organizations_);
        field(2, "total_records", self.total_records);
    }
};

struct group_answer {
    schemas::group group_;

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) { field(1, "group", self.group_); }
};

struct groups {
    std::vector<schemas::group> groups_;
    std::uint64_t total_records = 0;

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "groups", self.groups_);
        field(2, "total_records", self.total_records);
    }
};

struct roles {
    std::vector<schemas::role> roles_;
    std::uint64_t total_records = 0;

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "roles", self.roles_);
        field(2, "total_records", self.total_records);
    }
};

}  // namespace herald::schemas::answers
