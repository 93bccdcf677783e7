// Bodies about registered models (wire.md §3).
#pragma once

#include "schemas/commands/models.hpp"
#include "schemas/requests/request.hpp"
#include "schemas/sharing.hpp"

namespace herald::schemas::requests {

struct create_model {
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
    static constexpr std::string_view example =
        R"({"name":"churn","description":"Who leaves next","labels":["tabular"],"task_type":"CLASSIFICATION"})";
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

commands::model_content content_of(create_model);

}  // namespace herald::schemas::requests
