// Answers about registered models (wire.md §3).
#pragma once

#include "schemas/answers/answer.hpp"
#include "schemas/registry.hpp"

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

struct registered_model : one<"registered_model", model> {};

struct count_of_models {
    std::uint64_t count = 0;

    HERALD_DESCRIBE(count);
};

struct registered_models : page<"registered_models", model> {};

}  // namespace herald::schemas::answers
