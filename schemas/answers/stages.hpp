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

/// `deliveries` is present only when the promotion is read.
struct promotion : promotion_record {
    std::optional<delivery_counts> deliveries;

    using shown_inline = promotion_record;
    static constexpr void describe(auto& self, auto&& field) {
        promotion_record::describe(self, field);
        field(30, "deliveries", self.deliveries);
    }
};

promotion of(schemas::promotion);

}  // namespace herald::schemas::answers
