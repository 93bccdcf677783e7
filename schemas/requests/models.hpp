// Bodies about registered models (wire.md §3).
#pragma once

#include "schemas/commands/models.hpp"
#include "schemas/requests/request.hpp"
#include "schemas/sharing.hpp"

namespace herald::schemas::requests {

/// What creations and updates have in common: all of it.
struct model_members {
    std::string name;
    std::string description;
    std::vector<std::string> labels;
    std::vector<key_value> attributes;
    std::string readme_text;
    std::optional<schemas::visibility> visibility;
    schemas::resource_visibility resource_visibility = schemas::resource_visibility::unknown;
    std::optional<schemas::custom_permission> custom_permission;
    schemas::data_type data_type = schemas::data_type::unknown;
    schemas::task_type task_type = schemas::task_type::unknown;
    bool pii = false;

    static constexpr std::array server_owned{
        owned{"id"},           owned{"owner"},        owned{"owner_id"},       owned{"workspace_id"},
        owned{"time_created"}, owned{"time_updated"}, owned{"version_number"}, owned{"workspace_service_id"}};
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "name", self.name);
        field(2, "description", self.description);
        field(3, "labels", self.labels);
        field(4, "attributes", self.attributes);
        field(5, "readme_text", self.readme_text);
        field(6, "visibility", self.visibility);
        field(7, "resource_visibility", self.resource_visibility);
        field(8, "custom_permission", self.custom_permission);
        field(9, "data_type", self.data_type);
        field(10, "task_type", self.task_type);
        field(11, "pii", self.pii);
    }
};

struct create_model {
    model_members common;

    using shown_inline = model_members;
    static constexpr std::array<std::string_view, 1> required{"name"};
    static constexpr auto server_owned = model_members::server_owned;
    static constexpr std::string_view example =
        R"({"name":"churn","description":"Who leaves next","labels":["tabular"],"task_type":"CLASSIFICATION"})";
    static constexpr void describe(auto& self, auto&& field) { model_members::describe(self.common, field); }
};

/// Body of PATCH and PUT. time_updated is the one that the caller had read, and changes nothing.
struct update_model {
    model_members common;
    std::int64_t time_updated = 0;

    using shown_inline = model_members;
    static constexpr std::array server_owned{owned{"id"},
                                             owned{"owner"},
                                             owned{"owner_id"},
                                             owned{"workspace_id"},
                                             owned{"time_created"},
                                             owned{"version_number"},
                                             owned{"workspace_service_id"}};
    static constexpr std::string_view example = R"({"description":"Who leaves next","labels":["tabular"]})";
    static constexpr void describe(auto& self, auto&& field) {
        model_members::describe(self.common, field);
        field(12, "time_updated", self.time_updated);
    }
};

/// Body of PATCH …/full_body.
struct update_model_members {
    update_model registered_model;
    std::optional<requests::update_mask> update_mask;  // none: the members that are present

    static constexpr std::array server_owned{owned{"id", "is taken from the path"}};
    static constexpr std::string_view example =
        R"({"registered_model":{"labels":["tabular"]},"update_mask":{"paths":["labels","readme_text"]}})";
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "registered_model", self.registered_model);
        field(2, "update_mask", self.update_mask);
    }
};

commands::model_content content_of(model_members);

}  // namespace herald::schemas::requests
