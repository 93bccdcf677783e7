// Endpoints, their stages and access tokens, and updates that users ask for. Numbers 80 to 89.
#pragma once

#include "schemas/commands/envelope.hpp"
#include "schemas/endpoints.hpp"

namespace herald::schemas::commands {

/// → endpoint
struct create_endpoint {
    static constexpr command_type type{80};

    uuid id{};  // random
    std::string workspace_name;
    std::string path;           // as it was sent
    json_text creator_request;  // the body as it came

    HERALD_DESCRIBE(id, workspace_name, path, creator_request);
};

/// → nothing
struct delete_endpoint {
    static constexpr command_type type{81};
    static constexpr command_traits traits{.passes_full_disk = true, .withdraws = true};

    uuid id{};
    std::string workspace_name;

    HERALD_DESCRIBE(id, workspace_name);
};

/// A new token as its sender sealed it. Without a value it is minted: HMAC of the command's id under a key of
/// the key ring, and the rule keeps only its hash.
struct new_access_token {
    std::string hash;  // SHA-256 of the value, 32 bytes
    std::string sealed_value;
    std::string seal_binding;

    HERALD_DESCRIBE(hash, sealed_value, seal_binding);
};

/// → endpoint_stage
struct create_endpoint_stage {
    static constexpr command_type type{82};

    uuid endpoint_id{};
    std::string workspace_name;
    std::string name;
    bool autocreate_token = true;
    new_access_token token;
    json_text creator_request;

    HERALD_DESCRIBE(endpoint_id, workspace_name, name, autocreate_token, token, creator_request);
};

/// → access_token
struct create_access_token {
    static constexpr command_type type{83};

    uuid endpoint_id{};
    std::string workspace_name;
    endpoint_stage_id stage_id;
    new_access_token token;
    std::string label;
    std::int64_t expires_ms = 0;
    json_text creator_request;  // without its value

    HERALD_DESCRIBE(endpoint_id, workspace_name, stage_id, token, label, expires_ms, creator_request);
};

/// → nothing
struct delete_access_token {
    static constexpr command_type type{84};
    static constexpr command_traits traits{.passes_full_disk = true, .withdraws = true};

    uuid endpoint_id{};
    std::string workspace_name;
    endpoint_stage_id stage_id;
    access_token_id token_id;

    HERALD_DESCRIBE(endpoint_id, workspace_name, stage_id, token_id);
};

/// Thresholds and steps come as the decimals that were sent; the rule parses them. → endpoint_stage
struct update_endpoint_stage : serving_settings {
    static constexpr command_type type{85};

    struct rule {
        std::uint32_t rule_id = 0;
        std::string threshold;  // "0.8"

        HERALD_DESCRIBE(rule_id, threshold);
    };

    uuid endpoint_id{};
    std::string workspace_name;
    endpoint_stage_id stage_id;
    schemas::build_id build_id;
    update_strategy strategy = update_strategy::rollout;
    std::uint32_t progress_interval_seconds = 0;
    std::string progress_step;  // "0.25"
    std::vector<rule> rules;
    json_text update_request;  // the body as it came

    using shown_inline = serving_settings;
    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(endpoint_id, workspace_name, stage_id, build_id, strategy, progress_interval_seconds,
                      progress_step, rules, update_request);
        serving_settings::describe(self, field);
    }
};

/// Updates the stage to the build that served before, as that was served. → endpoint_stage
struct roll_back_endpoint_stage {
    static constexpr command_type type{86};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = false};

    uuid endpoint_id{};
    std::string workspace_name;
    endpoint_stage_id stage_id;

    HERALD_DESCRIBE(endpoint_id, workspace_name, stage_id);
};

using endpoint_commands = command_list<create_endpoint, delete_endpoint>;
using endpoint_stage_commands = command_list<create_endpoint_stage>;
using endpoint_update_commands = command_list<update_endpoint_stage, roll_back_endpoint_stage>;
using access_token_commands = command_list<create_access_token, delete_access_token>;

}  // namespace herald::schemas::commands
