// Bodies about users and groups (wire.md §2).
#pragma once

#include "schemas/identity.hpp"
#include "schemas/requests/request.hpp"

namespace herald::schemas::requests {

struct new_user_names {
    std::string username;  // empty: the e-mail
    static constexpr std::array server_owned{owned{"user_id"}, owned{"default_workspace_id"}};
    static constexpr void describe(auto& self, auto&& field) { field(1, "username", self.username); }
};

struct new_user {
    std::string email;
    std::string full_name;
    std::optional<new_user_names> verta_info;

    static constexpr std::array<std::string_view, 1> required{"email"};
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "email", self.email);
        field(2, "full_name", self.full_name);
        field(3, "verta_info", self.verta_info);
    }
};

struct create_user {
    std::optional<new_user> info;

    static constexpr std::array<std::string_view, 1> required{"info"};
    static constexpr std::string_view example =
        R"({"info":{"email":"ada@example.org","full_name":"Ada Lovelace"}})";
    static constexpr void describe(auto& self, auto&& field) { field(1, "info", self.info); }
};

struct add_group_users {
    std::vector<schemas::user_id> user_id;

    static constexpr std::string_view example = R"({"user_id":["2","3"]})";
    static constexpr void describe(auto& self, auto&& field) { field(1, "user_id", self.user_id); }
};

}  // namespace herald::schemas::requests
