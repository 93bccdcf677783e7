// Bodies about users, their keys and service accounts (wire.md §2).
#pragma once

#include "schemas/find.hpp"
#include "schemas/identity.hpp"
#include "schemas/requests/request.hpp"

namespace herald::schemas::requests {

struct new_user_names {
    std::string username;  // empty: the e-mail
    static constexpr std::array server_owned{owned{"user_id"}, owned{"default_workspace_id"}};
    HERALD_DESCRIBE(username);
};

struct new_user {
    std::string email;
    std::string full_name;
    std::optional<new_user_names> verta_info;

    static constexpr std::array<std::string_view, 1> required{"email"};
    HERALD_DESCRIBE(email, full_name, verta_info);
};

struct create_user {
    std::optional<new_user> info;

    static constexpr std::array<std::string_view, 1> required{"info"};
    static constexpr std::string_view example =
        R"({"info":{"email":"ada@example.org","full_name":"Ada Lovelace"}})";
    HERALD_DESCRIBE(info);
};

/// The user; without it, the caller.
struct changed_user_names {
    schemas::user_id user_id;
    std::string username;
    static constexpr std::array server_owned{owned{"default_workspace_id"}};
    HERALD_DESCRIBE(user_id, username);
};

struct changed_user {
    std::string email;
    std::string full_name;
    std::optional<changed_user_names> verta_info;

    HERALD_DESCRIBE(email, full_name, verta_info);
};

/// What is empty stays as it is.
struct update_user {
    std::optional<changed_user> info;
    workspace_id default_workspace_id;

    static constexpr std::string_view example = R"({"info":{"full_name":"Ada King"}})";
    HERALD_DESCRIBE(info, default_workspace_id);
};

struct one_user {
    schemas::user_id user_id;

    static constexpr std::array<std::string_view, 1> required{"user_id"};
    static constexpr std::string_view example = R"({"user_id":"2"})";
    HERALD_DESCRIBE(user_id);
};

/// Also as the query parameter user_id.
struct maybe_one_user {
    schemas::user_id user_id;

    static constexpr std::string_view example = R"({"user_id":"2"})";
    HERALD_DESCRIBE(user_id);
};

struct nothing {
    static constexpr std::string_view example = "{}";
    static constexpr void describe(auto&, auto&&) {}
};

/// Users with any of these; none: all.
struct get_users {
    std::vector<schemas::user_id> user_ids;
    std::vector<std::string> emails;
    std::vector<std::string> usernames;
    std::optional<schemas::pagination> pagination;

    static constexpr std::string_view example =
        R"({"emails":["ada@example.org"],"pagination":{"page_number":1,"page_limit":10}})";
    HERALD_DESCRIBE(user_ids, emails, usernames, pagination);
};

struct system_admin {
    std::string share_with;

    static constexpr std::array<std::string_view, 1> required{"share_with"};
    static constexpr std::string_view example = R"({"share_with":"ada@example.org"})";
    HERALD_DESCRIBE(share_with);
};

struct create_session {
    schemas::user_id verta_user_id;  // 0: the caller
    std::string session_name;
    std::int64_t ttl_seconds = 0;

    static constexpr std::array<std::string_view, 1> required{"session_name"};
    static constexpr std::string_view example = R"({"session_name":"nightly","ttl_seconds":"3600"})";
    HERALD_DESCRIBE(verta_user_id, session_name, ttl_seconds);
};

/// An empty list restricts nothing.
struct find_sessions {
    std::vector<session_id> ids;
    std::vector<schemas::user_id> verta_user_id;
    std::vector<std::string> name;
    std::optional<schemas::pagination> pagination;

    static constexpr std::string_view example = R"({"name":["nightly"]})";
    HERALD_DESCRIBE(ids, verta_user_id, name, pagination);
};

struct delete_sessions {
    std::vector<session_id> ids;

    static constexpr std::array<std::string_view, 1> required{"ids"};
    static constexpr std::string_view example = R"({"ids":["1"]})";
    HERALD_DESCRIBE(ids);
};

struct new_service_account {
    organization_id org_id;  // the path says it already
    std::string email;
    std::string description;

    static constexpr std::array<std::string_view, 1> required{"email"};
    static constexpr std::array server_owned{owned{"id"}, owned{"username"}, owned{"primary_key"},
                                             owned{"time_created"}, owned{"associated_workspace_id"}};
    HERALD_DESCRIBE(org_id, email, description);
};

struct add_service_account {
    std::optional<new_service_account> service_account;

    static constexpr std::array<std::string_view, 1> required{"service_account"};
    static constexpr std::string_view example =
        R"({"service_account":{"email":"nightly@example.org","description":"Promotes what was tested"}})";
    HERALD_DESCRIBE(service_account);
};

struct create_service_account {
    std::string username;
    workspace_id associated_workspace_id;
    std::string description;

    static constexpr std::array<std::string_view, 1> required{"username"};
    static constexpr std::string_view example =
        R"({"username":"weekly","associated_workspace_id":"1","description":"Reports what is old"})";
    HERALD_DESCRIBE(username, associated_workspace_id, description);
};

/// What is empty stays as it is.
struct update_service_account {
    schemas::user_id id;
    std::string username;
    workspace_id associated_workspace_id;
    std::string description;

    static constexpr std::array<std::string_view, 1> required{"id"};
    static constexpr std::string_view example = R"({"id":"9","description":"Reports what is very old"})";
    HERALD_DESCRIBE(id, username, associated_workspace_id, description);
};

struct delete_service_account {
    schemas::user_id id;

    static constexpr std::array<std::string_view, 1> required{"id"};
    static constexpr std::string_view example = R"({"id":"9"})";
    HERALD_DESCRIBE(id);
};

/// An empty list restricts nothing.
struct find_service_accounts {
    std::vector<schemas::user_id> ids;
    std::vector<workspace_id> associated_workspace_ids;
    std::vector<std::string> usernames;
    std::optional<schemas::pagination> pagination;

    static constexpr std::string_view example = R"({"usernames":["weekly"]})";
    HERALD_DESCRIBE(ids, associated_workspace_ids, usernames, pagination);
};

}  // namespace herald::schemas::requests
