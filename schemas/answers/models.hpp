// Answers about registered models (wire.md §3).
#pragma once

#include "schemas/answers/answer.hpp"
#include "schemas/registry.hpp"
#include "schemas/sharing.hpp"

namespace herald::schemas::answers {

/// The record, with owner_id and workspace_service_id in addition to owner and workspace_id.
struct model : model_record {
    user_id owner_id;
    schemas::workspace_id workspace_service_id;

    using shown_inline = model_record;
    static constexpr void describe(auto& self, auto&& field) {
        model_record::describe(self, field);
        field(80, "owner_id", self.owner_id);
        field(81, "workspace_service_id", self.workspace_service_id);
    }
};

model of(schemas::registered_model);

struct registered_model {
    model registered_model_;

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "registered_model", self.registered_model_);
    }
};

struct count_of_models {
    std::uint64_t count = 0;

    static constexpr integers style = integers::as_strings;
    HERALD_DESCRIBE(count);
};

struct registered_models {
    std::vector<model> registered_models_;
    std::uint64_t total_records = 0;
    std::string next_page_token;  // empty: there are no more

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "registered_models", self.registered_models_);
        field(2, "total_records", self.total_records);
        field(3, "next_page_token", self.next_page_token);
    }
};

}  // namespace herald::schemas::answers
