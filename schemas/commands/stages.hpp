// Stages, transitions and promotions. Numbers 30 to 39, shared with policies.
#pragma once

#include "schemas/commands/envelope.hpp"
#include "schemas/registry.hpp"

namespace herald::schemas::commands {

/// → activity
struct create_transition {
    static constexpr command_type type{30};

    version_id model_version_id;
    stage desired_stage = stage::unknown;
    std::string comment;

    HERALD_DESCRIBE(model_version_id, desired_stage, comment);
};

/// → activity. Approves or rejects.
struct review_transition {
    static constexpr command_type type{31};

    activity_id transition_id;
    bool approve = false;
    std::string comment;

    HERALD_DESCRIBE(transition_id, approve, comment);
};

/// → activity
struct close_transition {
    static constexpr command_type type{32};

    activity_id transition_id;
    std::string comment;

    HERALD_DESCRIBE(transition_id, comment);
};

/// → activity
struct commit_transition {
    static constexpr command_type type{33};

    activity_id transition_id;
    std::string comment;

    HERALD_DESCRIBE(transition_id, comment);
};

/// → promotion
struct fail_promotion {
    static constexpr command_type type{34};

    version_id model_version_id;
    std::string reason;

    HERALD_DESCRIBE(model_version_id, reason);
};

/// Changes the stage at once, without a transition. → activity
struct update_stage {
    static constexpr command_type type{35};

    version_id model_version_id;
    schemas::stage stage = schemas::stage::unknown;
    std::string comment;

    HERALD_DESCRIBE(model_version_id, stage, comment);
};

/// → activity
struct create_comment {
    static constexpr command_type type{36};

    version_id model_version_id;
    std::string comment;

    HERALD_DESCRIBE(model_version_id, comment);
};

using stage_commands = command_list<create_transition, review_transition, close_transition, commit_transition,
                                    fail_promotion, update_stage, create_comment>;

}  // namespace herald::schemas::commands
