// Builds. Numbers 40 to 49, shared with scans.
#pragma once

#include "schemas/commands/envelope.hpp"
#include "schemas/commands/level.hpp"
#include "schemas/deployment.hpp"

namespace herald::schemas::commands {

/// → build
struct create_build {
    static constexpr command_type type{40};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = false};

    std::string workspace_name;
    version_id model_version_id;
    std::string external_location;
    std::string upstream_url;
    bool requires_root = false;
    bool scan_external = false;
    bool self_contained = false;
    bool uses_flask = false;
    json_text creator_request;  // the body as it came
    std::string run_id;         // of an experiment

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "workspace_name", self.workspace_name);
        field(2, "model_version_id", self.model_version_id);
        field(3, "external_location", self.external_location);
        field(4, "upstream_url", self.upstream_url);
        field(5, "requires_root", self.requires_root);
        field(6, "scan_external", self.scan_external);
        field(7, "self_contained", self.self_contained);
        field(8, "uses_flask", self.uses_flask);
        field(9, "creator_request", self.creator_request);
        field(10, "run_id", self.run_id);
    }
};

/// → build
struct set_build_message {
    static constexpr command_type type{44};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = false};

    schemas::build_id build_id;
    std::string message;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "build_id", self.build_id);
        field(2, "message", self.message);
    }
};

using build_commands = command_list<create_build, set_build_message>;

}  // namespace herald::schemas::commands
