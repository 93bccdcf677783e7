// Users and their keys. Numbers 10 to 19, 100, 101.
#pragma once

#include "schemas/commands/envelope.hpp"
#include "schemas/identity.hpp"

namespace herald::schemas::commands {

/// → user. The developer key is minted: HMAC(key ring key, command id ‖ "developer-key").
struct create_user {
    static constexpr command_type type{10};

    std::string email;
    std::string username;
    std::string full_name;
    std::string key_name;
    std::string key_hash;
    bool service_account = false;
    uuid user_uuid{};  // random

    HERALD_DESCRIBE(email, username, full_name, key_name, key_hash, service_account, user_uuid);
};

/// What is empty stays as it is. → user
struct update_user {
    static constexpr command_type type{12};

    schemas::user_id user_id;  // 0: the sender
    std::string email;
    std::string username;
    std::string full_name;
    workspace_id default_workspace_id;

    HERALD_DESCRIBE(user_id, email, username, full_name, default_workspace_id);
};

/// → nothing
struct remove_user {
    static constexpr command_type type{13};
    static constexpr command_traits traits{.passes_full_disk = true};

    schemas::user_id user_id;

    HERALD_DESCRIBE(user_id);
};

/// Makes or ends a system administrator. → nothing
struct set_system_admin {
    static constexpr command_type type{14};

    std::string who;  // an e-mail, else an id
    bool is_admin = false;

    HERALD_DESCRIBE(who, is_admin);
};

/// → user. The key is minted as create_user's; it takes the first free of the two places.
struct add_key {
    static constexpr command_type type{15};

    schemas::user_id user_id;  // 0: the sender
    std::string key_name;
    std::string key_hash;

    HERALD_DESCRIBE(user_id, key_name, key_hash);
};

/// → user
struct remove_key {
    static constexpr command_type type{16};
    static constexpr command_traits traits{.passes_full_disk = true};

    schemas::user_id user_id;  // 0: the sender
    bool secondary = false;

    HERALD_DESCRIBE(user_id, secondary);
};

/// → session. Its key is minted: HMAC(key ring key, command id ‖ "session-key").
struct create_session {
    static constexpr command_type type{17};

    schemas::user_id user_id;  // 0: the sender
    std::string name;
    std::int64_t ttl_seconds = 0;  // 0: a day
    std::string key_name;
    std::string key_hash;

    HERALD_DESCRIBE(user_id, name, ttl_seconds, key_name, key_hash);
};

/// → nothing
struct delete_sessions {
    static constexpr command_type type{18};
    static constexpr command_traits traits{.passes_full_disk = true};

    std::vector<session_id> ids;

    HERALD_DESCRIBE(ids);
};

/// → user. The key is minted as create_user's.
struct create_service_account {
    static constexpr command_type type{19};

    organization_id org_id;  // 0: that of the workspace, else the first
    std::string email;
    std::string username;  // empty: the e-mail
    std::string description;
    workspace_id associated_workspace_id;
    std::string key_name;
    std::string key_hash;
    uuid user_uuid{};  // random

    HERALD_DESCRIBE(org_id, email, username, description, associated_workspace_id, key_name, key_hash,
                    user_uuid);
};

/// What is empty stays as it is. → user
struct update_service_account {
    static constexpr command_type type{100};

    user_id id;
    std::string username;
    std::string description;
    workspace_id associated_workspace_id;

    HERALD_DESCRIBE(id, username, description, associated_workspace_id);
};

/// → nothing
struct delete_service_account {
    static constexpr command_type type{101};
    static constexpr command_traits traits{.passes_full_disk = true};

    user_id id;
    organization_id org_id;  // 0: whichever it belongs to

    HERALD_DESCRIBE(id, org_id);
};

using user_commands = command_list<create_user, update_user, remove_user, set_system_admin>;
using key_commands = command_list<add_key, remove_key, create_session, delete_sessions>;
using service_account_commands =
    command_list<create_service_account, update_service_account, delete_service_account>;

}  // namespace herald::schemas::commands
