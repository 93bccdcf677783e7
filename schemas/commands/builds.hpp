// Builds. Numbers 40 to 49, shared with scans.
#pragma once

#include "schemas/commands/envelope.hpp"
#include "schemas/deployment.hpp"

namespace herald::schemas::commands {

/// → build
struct create_build : build_content {
    static constexpr command_type type{40};

    std::string workspace_name;
    version_id model_version_id;
    std::string external_location;
    json_text creator_request;  // the body as it came
    std::string run_id;         // of an experiment

    using shown_inline = build_content;
    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(workspace_name, model_version_id, external_location, creator_request, run_id);
        build_content::describe(self, field);
    }
};

/// → build
struct set_build_message {
    static constexpr command_type type{44};

    schemas::build_id build_id;
    std::string message;

    HERALD_DESCRIBE(build_id, message);
};

using build_commands = command_list<create_build, set_build_message>;

}  // namespace herald::schemas::commands
