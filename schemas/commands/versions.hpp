// Model versions. Numbers 20 to 29, shared with models.
#pragma once

#include "schemas/commands/envelope.hpp"
#include "schemas/registry.hpp"

namespace herald::schemas::commands {

/// → model_version. The model by id, or by workspace and name.
struct create_version {
    static constexpr command_type type{21};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = false};

    model_id registered_model_id;
    std::string workspace_name;
    std::string model_name;
    model_version version;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "registered_model_id", self.registered_model_id);
        field(2, "workspace_name", self.workspace_name);
        field(3, "model_name", self.model_name);
        field(4, "version", self.version);
    }
};

enum class update_mode : std::uint8_t { merge, replace };  // PATCH, PUT

/// → model_version. The version by id, or by workspace, model and its own id or name. With a non-empty
/// redirect_metadata while a promotion is in progress: its completion, and
/// nothing else (wire.md "Promotion status").
struct update_version {
    static constexpr command_type type{22};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = false};

    version_id id;
    model_id registered_model_id;  // of the path; none in forms without it
    update_mode mode = update_mode::merge;
    std::vector<std::string> present;  // names of the members that the body had
    model_version version;
    std::string workspace_name;
    std::string model_name;
    std::string version_or_name;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "registered_model_id", self.registered_model_id);
        field(3, "mode", self.mode);
        field(4, "present", self.present);
        field(5, "version", self.version);
        field(6, "workspace_name", self.workspace_name);
        field(7, "model_name", self.model_name);
        field(8, "version_or_name", self.version_or_name);
    }
};

}  // namespace herald::schemas::commands
