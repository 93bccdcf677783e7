// Rows that only the rules and their readers know: what the state keeps beside the entities of schemas/.
#pragma once

#include "schemas/registry.hpp"

namespace herald::storage::registry::tables {

/// A user's last word on a transition.
struct review {
    schemas::user_id user;
    bool approve = false;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "user", self.user);
        field(2, "approve", self.approve);
    }
};

struct transition_row {
    schemas::transition transition;
    schemas::version_id model_version_id;
    schemas::user_id author;
    std::int64_t time_requested = 0;
    std::vector<review> reviews;  // one a user

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "transition", self.transition);
        field(2, "model_version_id", self.model_version_id);
        field(3, "author", self.author);
        field(4, "time_requested", self.time_requested);
        field(5, "reviews", self.reviews);
    }
};

}  // namespace herald::storage::registry::tables
