// Users and groups. Numbers 10 to 19.
#pragma once

#include "schemas/commands/envelope.hpp"
#include "schemas/identity.hpp"

namespace herald::schemas::commands {

/// → user. The developer key is minted: HMAC(key ring key, command id ‖ "developer-key").
struct create_user {
    static constexpr command_type type{10};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = false};

    std::string email;
    std::string username;
    std::string full_name;
    std::string key_name;
    std::string key_hash;
    bool service_account = false;
    uuid user_uuid{};  // random

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "email", self.email);
        field(2, "username", self.username);
        field(3, "full_name", self.full_name);
        field(4, "key_name", self.key_name);
        field(5, "key_hash", self.key_hash);
        field(6, "service_account", self.service_account);
        field(7, "user_uuid", self.user_uuid);
    }
};

/// → group
struct add_group_users {
    static constexpr command_type type{11};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = false};

    organization_id org_id;
    schemas::group_id group_id;
    std::vector<schemas::user_id> user_id;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "org_id", self.org_id);
        field(2, "group_id", self.group_id);
        field(3, "user_id", self.user_id);
    }
};

using identity_commands = command_list<create_user, add_group_users>;

}  // namespace herald::schemas::commands
