// Bodies about stage transitions and promotions (wire.md §3).
#pragma once

#include "schemas/registry.hpp"
#include "schemas/requests/request.hpp"

namespace herald::schemas::requests {

struct create_transition {
    version_id model_version_id;
    stage desired_stage = stage::unknown;
    std::string comment;

    static constexpr std::array<std::string_view, 2> required{"model_version_id", "desired_stage"};
    static constexpr std::string_view example =
        R"({"model_version_id":"1","desired_stage":"PRODUCTION","comment":"It won the trial"})";
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "model_version_id", self.model_version_id);
        field(2, "desired_stage", self.desired_stage);
        field(3, "comment", self.comment);
    }
};

/// For the calls that approve, reject, close and commit a transition.
struct act_on_transition {
    activity_id transition_id;
    std::string comment;

    static constexpr std::array<std::string_view, 1> required{"transition_id"};
    static constexpr std::string_view example = R"({"transition_id":"1","comment":"Fine"})";
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "transition_id", self.transition_id);
        field(2, "comment", self.comment);
    }
};

struct fail_promotion {
    std::string reason;

    static constexpr std::string_view example = R"({"reason":"The rollout was stopped"})";
    static constexpr void describe(auto& self, auto&& field) { field(1, "reason", self.reason); }
};

}  // namespace herald::schemas::requests
