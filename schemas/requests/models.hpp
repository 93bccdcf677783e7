// Bodies about registered models (wire.md §3).
#pragma once

#include "schemas/commands/models.hpp"
#include "schemas/requests/request.hpp"
#include "schemas/sharing.hpp"

namespace herald::schemas::requests {

struct create_model : model_content {
    using shown_inline = model_content;
    static constexpr std::array<std::string_view, 1> required{"name"};
    static constexpr std::array server_owned{
        owned{"id"},           owned{"owner"},        owned{"owner_id"},       owned{"workspace_id"},
        owned{"time_created"}, owned{"time_updated"}, owned{"version_number"}, owned{"workspace_service_id"}};
    static constexpr std::string_view example =
        R"({"name":"churn","description":"Who leaves next","labels":["tabular"],"task_type":"CLASSIFICATION"})";
    static constexpr void describe(auto& self, auto&& field) { model_content::describe(self, field); }
};

/// Body of PATCH and PUT. time_updated is the one that the caller had read, and changes nothing.
struct update_model : model_content {
    std::int64_t time_updated = 0;

    using shown_inline = model_content;
    static constexpr std::array server_owned{owned{"id"},
                                             owned{"owner"},
                                             owned{"owner_id"},
                                             owned{"workspace_id"},
                                             owned{"time_created"},
                                             owned{"version_number"},
                                             owned{"workspace_service_id"}};
    static constexpr std::string_view example = R"({"description":"Who leaves next","labels":["tabular"]})";
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "time_updated", self.time_updated);
        model_content::describe(self, field);
    }
};

/// Body of PATCH …/full_body.
struct update_model_members {
    update_model registered_model;
    std::optional<requests::update_mask> update_mask;  // none: the members that are present

    static constexpr std::array server_owned{owned{"id", "is taken from the path"}};
    static constexpr std::string_view example =
        R"({"registered_model":{"labels":["tabular"]},"update_mask":{"paths":["labels","readme_text"]}})";
    HERALD_DESCRIBE(registered_model, update_mask);
};

}  // namespace herald::schemas::requests
