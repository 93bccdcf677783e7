// Bodies about stages, their transitions and policies, and promotions (wire.md §3).
#pragma once

#include "schemas/find.hpp"
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
    HERALD_DESCRIBE(model_version_id, desired_stage, comment);
};

/// For the calls that approve, reject, close and commit a transition.
struct act_on_transition {
    activity_id transition_id;
    std::string comment;

    static constexpr std::array<std::string_view, 1> required{"transition_id"};
    static constexpr std::string_view example = R"({"transition_id":"1","comment":"Fine"})";
    HERALD_DESCRIBE(transition_id, comment);
};

struct update_stage {
    version_id model_version_id;
    schemas::stage stage = schemas::stage::unknown;
    std::string comment;

    static constexpr std::array<std::string_view, 2> required{"model_version_id", "stage"};
    static constexpr std::string_view example =
        R"({"model_version_id":"1","stage":"DEVELOPMENT","comment":"Back to the bench"})";
    HERALD_DESCRIBE(model_version_id, stage, comment);
};

struct create_comment {
    version_id model_version_id;
    std::string comment;

    static constexpr std::array<std::string_view, 2> required{"model_version_id", "comment"};
    static constexpr std::string_view example =
        R"({"model_version_id":"1","comment":"Who has looked at the drift?"})";
    HERALD_DESCRIBE(model_version_id, comment);
};

struct find_activities {
    model_id registered_model_id;
    version_id model_version_id;
    std::optional<schemas::pagination> pagination;

    static constexpr std::string_view example =
        R"({"model_version_id":"1","pagination":{"page_number":1,"page_limit":10}})";
    HERALD_DESCRIBE(registered_model_id, model_version_id, pagination);
};

/// Without an id: over all that the caller may read.
struct find_transitions {
    model_id registered_model_id;
    version_id model_version_id;
    std::vector<transition_state> state;
    bool mine = false;
    bool waiting_for_me = false;
    std::optional<schemas::pagination> pagination;

    static constexpr std::string_view example =
        R"({"state":["PENDING"],"waiting_for_me":true,"pagination":{"page_number":1,"page_limit":10}})";
    HERALD_DESCRIBE(registered_model_id, model_version_id, state, mine, waiting_for_me, pagination);
};

/// PUT: replaces them all. An absent one takes its default.
struct policies {
    std::optional<std::vector<stage>> require_approval_for;
    std::optional<std::uint32_t> approvals_required;
    std::vector<stage> require_safe_scan_for;
    bool commit_on_approve = false;
    std::uint32_t promotion_deadline_seconds = 0;
    std::optional<bool> scan_by_others;  // absent: true if require_safe_scan_for is not empty

    static constexpr bool strict = true;
    static constexpr std::string_view example =
        R"({"require_approval_for":["PRODUCTION"],"approvals_required":1,"require_safe_scan_for":[],"commit_on_approve":false})";
    HERALD_DESCRIBE(require_approval_for, approvals_required, require_safe_scan_for, commit_on_approve,
                    promotion_deadline_seconds, scan_by_others);
};

struct fail_promotion {
    std::string reason;

    static constexpr std::string_view example = R"({"reason":"The rollout was stopped"})";
    HERALD_DESCRIBE(reason);
};

}  // namespace herald::schemas::requests
