// Answers about stages, their transitions and policies, and promotions (wire.md §3).
#pragma once

#include "schemas/answers/answer.hpp"
#include "schemas/identity.hpp"
#include "schemas/registry.hpp"

namespace herald::schemas::answers {

/// Every stage call returns the entry that it made.
struct activity_answer : one<"activity", schemas::activity> {};

/// A page of a stage history, oldest first.
struct activities : page<"activities", schemas::activity> {};

/// The deadline is shown only where there is one.
struct policies : workspace_policies {
    using shown_inline = workspace_policies;
    static constexpr void describe(auto& self, auto&& field) { workspace_policies::describe(self, field); }
};

policies of(workspace_policies);

struct delivery_counts {
    std::uint32_t pending = 0;
    std::uint32_t succeeded = 0;
    std::uint32_t dead = 0;
    std::uint32_t unknown = 0;  // of an event from before a restore, whose attempts stayed behind

    HERALD_DESCRIBE(pending, succeeded, dead, unknown);
};

/// `deliveries` and `time_due` are present only when the promotion is read.
struct promotion : promotion_record {
    std::optional<delivery_counts> deliveries;
    std::optional<std::int64_t> time_due;  // only while it is in progress, and has a deadline

    using shown_inline = promotion_record;
    static constexpr void describe(auto& self, auto&& field) {
        promotion_record::describe(self, field);
        field(30, "deliveries", self.deliveries);
        field(31, "time_due", self.time_due);
    }
};

promotion of(schemas::promotion);

/// With the names of what was promoted.
struct listed_promotion : promotion {
    std::string model_name;
    std::string version;

    using shown_inline = promotion;
    static constexpr void describe(auto& self, auto&& field) {
        promotion::describe(self, field);
        field(32, "model_name", self.model_name);
        field(33, "version", self.version);
    }
};
struct listed_promotions : page<"promotions", listed_promotion> {};

/// What a change of a version's stage needs, and what of that is there.
struct readiness_for_stage {
    stage desired_stage = stage::unknown;
    std::uint32_t approvals_required = 0;
    std::vector<user_id> approved_by;
    bool has_outdated_approvals = false;
    std::vector<user_id> reviewers;
    bool needs_safe_scan = false;
    bool has_safe_scan = false;

    HERALD_DESCRIBE(desired_stage, approvals_required, approved_by, has_outdated_approvals, reviewers,
                    needs_safe_scan, has_safe_scan);
};

}  // namespace herald::schemas::answers
