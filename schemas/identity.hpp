// Users, groups, roles, workspaces and the credentials that a request carries (wire.md §2).
#pragma once

#include "schemas/enums.hpp"

namespace herald::schemas {

struct organization {
    organization_id id;
    std::string name;
    std::int64_t time_created = 0;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "name", self.name);
        field(3, "created_timestamp", self.time_created);
    }
};

/// A person or a service account. Developer keys are stored only as SHA-256 digests (32 bytes; empty: no such
/// key).
struct user {
    user_id id;
    std::string email;  // as given; compared ignoring case
    std::string username;
    std::string full_name;
    std::string primary_key_hash;
    std::string secondary_key_hash;
    bool system_admin = false;
    bool service_account = false;
    workspace_id default_workspace_id;
    std::int64_t time_created = 0;
    uuid user_uuid{};         // svc-endpoint-owner-id: unlike the number, it reveals nothing
    bool removed = false;     // kept as the author of what was done; has no e-mail, key or group any more
    std::string description;  // of a service account
    workspace_id associated_workspace_id;  // likewise
    organization_id org_id;                // likewise: whose administrators look after it

    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(id, email, username, full_name);
        field(5, "primary_key_hash", self.primary_key_hash, shown::never);
        field(6, "secondary_key_hash", self.secondary_key_hash, shown::never);
        field(7, "system_admin", self.system_admin);
        field(8, "service_account", self.service_account);
        field(9, "default_workspace_id", self.default_workspace_id);
        field(10, "time_created", self.time_created);
        field(11, "user_uuid", self.user_uuid, shown::never);
        field(12, "removed", self.removed, shown::never);
        field(13, "description", self.description, shown::never);
        field(14, "associated_workspace_id", self.associated_workspace_id, shown::never);
        field(15, "org_id", self.org_id, shown::never);
    }
};

/// A developer key that ends by itself.
struct session {
    session_id id;
    schemas::user_id user_id;
    std::string name;      // unique among the user's
    std::string key_hash;  // SHA-256
    std::int64_t time_created = 0;
    std::int64_t time_ends = 0;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "user_id", self.user_id);
        field(3, "name", self.name);
        field(4, "key_hash", self.key_hash, shown::never);
        field(5, "time_created", self.time_created);
        field(6, "ttl_epoch", self.time_ends);
    }
};

struct group {
    group_id id;
    organization_id org_id;
    std::string name;
    std::string description;
    bool built_in = false;
    std::int64_t time_created = 0;

    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(id, org_id, name, description, built_in);
        field(6, "created_timestamp", self.time_created);
    }
};

/// A group as those see it who change it: with its members, at most limits::list_rows_max.
struct group_members {
    schemas::group group;
    std::vector<user_id> member_ids;

    using shown_inline = schemas::group;
    static constexpr void describe(auto& self, auto&& field) {
        schemas::group::describe(self.group, field);
        field(7, "member_ids", self.member_ids);
    }
};

struct resource_actions {
    protected_type resource_type = protected_type::none;
    std::vector<action> allowed_actions;

    HERALD_DESCRIBE(resource_type, allowed_actions);
};

struct role {
    role_id id;
    organization_id org_id;
    std::string name;
    std::string description;
    bool built_in = false;
    std::vector<resource_actions> actions;
    std::int64_t time_created = 0;
    bool reports_scans = false;  // members with this role may report scans; there is no action, because
                                 // clients have none for it

    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(id, org_id, name, description, built_in);
        field(6, "resource_actions", self.actions);
        field(7, "created_timestamp", self.time_created);
        field(8, "reports_scans", self.reports_scans, shown::when_set);
    }
};

struct permission {
    schemas::group_id group_id;
    schemas::role_id role_id;

    friend bool operator==(const permission&, const permission&) = default;
    HERALD_DESCRIBE(group_id, role_id);
};

/// What a workspace requires for stage changes (wire.md §3).
struct workspace_policies {
    std::vector<stage> require_approval_for;
    std::uint32_t approvals_required = 1;
    std::vector<stage> require_safe_scan_for;
    bool commit_on_approve = false;                // the approval that is enough also commits
    std::uint32_t promotion_deadline_seconds = 0;  // a promotion that takes longer has failed; 0: none has
    bool scan_by_others = false;  // who made the build or requested the scan may not report it safe

    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(require_approval_for, approvals_required, require_safe_scan_for, commit_on_approve);
        field(5, "promotion_deadline_seconds", self.promotion_deadline_seconds, shown::when_set);
        field(6, "scan_by_others", self.scan_by_others);
    }
};

/// An organisation's workspace (org_id set) or a user's own (owner set, org_id 0).
struct workspace {
    workspace_id id;
    std::string name;  // unique in the installation
    organization_id org_id;
    user_id owner;
    std::vector<permission> permissions;
    std::string description;
    std::string name_space;
    bool built_in = false;
    std::int64_t time_created = 0;
    std::int64_t time_updated = 0;
    workspace_policies policies;
    group_id admins;       // of the organisation: its members may do everything here
    bool removed = false;  // nobody sees it; the row stays until its builds are gone

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "name", self.name);
        field(3, "org_id", self.org_id);
        field(4, "owner", self.owner, shown::never);
        field(5, "permissions", self.permissions);
        field(6, "description", self.description);
        field(7, "namespace", self.name_space);
        field(8, "built_in", self.built_in);
        field(9, "created_timestamp", self.time_created);
        field(10, "updated_timestamp", self.time_updated);
        field(11, "policies", self.policies, shown::never);
        field(12, "admins", self.admins, shown::never);
        field(13, "removed", self.removed, shown::never);
    }
};

}  // namespace herald::schemas
