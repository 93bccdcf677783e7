// Registered models. Numbers 20 to 29 and 130 to 149, shared with versions.
#pragma once

#include "schemas/commands/envelope.hpp"
#include "schemas/registry.hpp"

namespace herald::schemas::commands {

/// → registered_model
struct create_model {
    static constexpr command_type type{20};

    std::string workspace_name;
    model_content model;

    HERALD_DESCRIBE(workspace_name, model);
};

/// PATCH; PUT; PATCH …/full_body, which replaces the members that it names. Numbers are frozen.
enum class update_mode : std::uint8_t { merge, replace, members };

/// → registered_model. Names the model by id, or by workspace and name.
struct update_model {
    static constexpr command_type type{23};

    model_id id;
    std::string workspace_name;
    std::string model_name;
    update_mode mode = update_mode::merge;
    std::vector<std::string> present;  // names of the members that change; a PUT needs none
    model_content model;

    HERALD_DESCRIBE(id, workspace_name, model_name, mode, present, model);
};

/// → nothing. Names the model as update_model does.
struct delete_model {
    static constexpr command_type type{24};
    static constexpr command_traits traits{.passes_full_disk = true};

    model_id id;
    std::string workspace_name;
    std::string model_name;

    HERALD_DESCRIBE(id, workspace_name, model_name);
};

using model_commands = command_list<create_model, update_model, delete_model>;

}  // namespace herald::schemas::commands
