// Answers about stages, their transitions and policies, and promotions (wire.md §3).
#pragma once

#include "schemas/answers/answer.hpp"
#include "schemas/identity.hpp"
#include "schemas/registry.hpp"

namespace herald::schemas::answers {

/// Every stage call returns the entry that it made.
struct activity_answer {
    schemas::activity activity_;

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) { field(1, "activity", self.activity_); }
};

/// A page of a stage history, oldest first.
struct activities {
    std::vector<schemas::activity> activities_;
    std::uint64_t total_records = 0;
    std::string next_page_token;  // empty: there are no more

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "activities", self.activities_);
        field(2, "total_records", self.total_records);
        field(3, "next_page_token", self.next_page_token);
    }
};

/// The deadline is shown only where there is one.
struct policies {
    std::vector<stage> require_approval_for;
    std::uint32_t approvals_required = 1;
    std::vector<stage> require_safe_scan_for;
    bool commit_on_approve = false;
    std::uint32_t promotion_deadline_seconds = 0;
    bool scan_by_others = false;

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "require_approval_for", self.require_approval_for);
        field(2, "approvals_required", self.approvals_required);
        field(3, "require_safe_scan_for", self.require_safe_scan_for);
        field(4, "commit_on_approve", self.commit_on_approve);
        field(5, "promotion_deadline_seconds", self.promotion_deadline_seconds, shown::when_set);
        field(6, "scan_by_others", self.scan_by_others);
    }
};

policies of(workspace_policies);

struct delivery_counts {
    std::uint32_t pending = 0;
    std::uint32_t succeeded = 0;
    std::uint32_t dead = 0;
    std::uint32_t unknown = 0;  // of an event from before a restore, whose attempts stayed behind

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "pending", self.pending);
        field(2, "succeeded", self.succeeded);
        field(3, "dead", self.dead);
        field(4, "unknown", self.unknown);
    }
};

/// `deliveries` is present only when the promotion is read.
struct promotion {
    version_id model_version_id;
    promotion_status status = promotion_status::none;
    activity_id transition_id;
    schemas::event_id event_id;
    user_id requested_by;
    std::vector<user_id> approved_by;
    std::int64_t time_requested = 0;
    std::int64_t time_committed = 0;
    std::int64_t time_completed = 0;
    std::string redirect_metadata;
    std::string reason;
    std::optional<delivery_counts> deliveries;

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "model_version_id", self.model_version_id);
        field(2, "status", self.status);
        field(3, "transition_id", self.transition_id);
        field(4, "event_id", self.event_id);
        field(5, "requested_by", self.requested_by);
        field(6, "approved_by", self.approved_by);
        field(7, "time_requested", self.time_requested);
        field(8, "time_committed", self.time_committed);
        field(9, "time_completed", self.time_completed);
        field(10, "redirect_metadata", self.redirect_metadata);
        field(11, "reason", self.reason);
        field(12, "deliveries", self.deliveries);
    }
};

promotion of(schemas::promotion);

}  // namespace herald::schemas::answers
