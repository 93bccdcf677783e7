// Registered models. Numbers 20 to 29, shared with versions.
#pragma once

#include "schemas/commands/envelope.hpp"
#include "schemas/registry.hpp"

namespace herald::schemas::commands {

/// What a user may set in a model; the field numbers are those of the row.
struct model_content {
    std::string name;
    std::string description;
    std::vector<std::string> labels;
    std::vector<key_value> attributes;
    std::string readme_text;
    json_text visibility;
    schemas::resource_visibility resource_visibility = schemas::resource_visibility::unknown;
    json_text custom_permission;
    schemas::data_type data_type = schemas::data_type::unknown;
    schemas::task_type task_type = schemas::task_type::unknown;
    bool pii = false;

    static constexpr void describe(auto& self, auto&& field) {
        field(2, "name", self.name);
        field(3, "description", self.description);
        field(4, "labels", self.labels);
        field(5, "attributes", self.attributes);
        field(6, "readme_text", self.readme_text);
        field(9, "visibility", self.visibility);
        field(10, "resource_visibility", self.resource_visibility);
        field(11, "custom_permission", self.custom_permission);
        field(15, "data_type", self.data_type);
        field(16, "task_type", self.task_type);
        field(17, "pii", self.pii);
    }
};

/// → registered_model
struct create_model {
    static constexpr command_type type{20};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = false};

    std::string workspace_name;
    model_content model;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "workspace_name", self.workspace_name);
        field(2, "model", self.model);
    }
};

using model_commands = command_list<create_model>;

}  // namespace herald::schemas::commands
