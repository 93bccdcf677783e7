// The body of an update of an endpoint's stage (wire.md §5, client_calls.md §6).
#pragma once

#include "schemas/endpoints.hpp"
#include "schemas/requests/request.hpp"

namespace herald::schemas::requests {

struct rule_parameter {
    std::string name;
    json_text value;  // a number, or a string that holds one

    HERALD_DESCRIBE(name, value);
};

struct canary_rule {
    std::uint32_t rule_id = 0;
    std::vector<rule_parameter> rule_parameters;

    static constexpr std::array<std::string_view, 1> required{"rule_id"};
    HERALD_DESCRIBE(rule_id, rule_parameters);
};

struct canary_strategy {
    std::uint32_t progress_interval_seconds = 0;
    json_text progress_step;  // over 0, at most 1
    std::vector<canary_rule> rules;

    HERALD_DESCRIBE(progress_interval_seconds, progress_step, rules);
};

/// The body is echoed as a whole. resources, autoscaling and env have no effect on a model in this process.
struct update_endpoint_stage : serving_settings {
    schemas::build_id build_id;
    std::optional<update_strategy> strategy;
    std::optional<requests::canary_strategy> canary_strategy;
    json_text resources;
    json_text autoscaling;
    json_text env;

    using shown_inline = serving_settings;
    static constexpr std::array<std::string_view, 2> required{"build_id", "strategy"};
    static constexpr std::string_view example =
        R"({"build_id":1,"strategy":"canary","canary_strategy":{"progress_interval_seconds":60,"progress_step":0.25,)"
        R"("rules":[{"rule_id":1006,"rule_parameters":[{"name":"threshold","value":"0.5"}]}]}})";
    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(build_id, strategy, canary_strategy, resources, autoscaling, env);
        serving_settings::describe(self, field);
    }
};

}  // namespace herald::schemas::requests
