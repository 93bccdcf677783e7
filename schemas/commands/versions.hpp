// Model versions. Numbers 20 to 29 and 130 to 149, shared with models.
#pragma once

#include "schemas/commands/envelope.hpp"
#include "schemas/commands/models.hpp"
#include "schemas/registry.hpp"

namespace herald::schemas::commands {

/// → model_version. Names the model by id, or by workspace and name.
struct create_version {
    static constexpr command_type type{21};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = false};

    model_id registered_model_id;
    std::string workspace_name;
    std::string model_name;
    version_content version;
    schemas::lock_level lock_level = schemas::lock_level::open;
    std::string experiment_run_id;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "registered_model_id", self.registered_model_id);
        field(2, "workspace_name", self.workspace_name);
        field(3, "model_name", self.model_name);
        field(4, "version", self.version);
        field(5, "lock_level", self.lock_level);
        field(6, "experiment_run_id", self.experiment_run_id);
    }
};

/// → model_version. Names the version by id, or by workspace, model and its own id or name. With a non-empty
/// redirect_metadata while a promotion is in progress, it completes the promotion and does nothing else
/// (wire.md "Promotion status").
struct update_version {
    static constexpr command_type type{22};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = false};

    version_id id;
    model_id registered_model_id;  // from the path; 0 in forms without it
    update_mode mode = update_mode::merge;
    std::vector<std::string> present;  // names of the members in the body
    version_content version;
    std::string workspace_name;
    std::string model_name;
    std::string version_or_name;
    std::int64_t time_updated = 0;  // what the caller had read: identifies a repeated completion
    std::string redirect_metadata;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "registered_model_id", self.registered_model_id);
        field(3, "mode", self.mode);
        field(4, "present", self.present);
        field(5, "version", self.version);
        field(6, "workspace_name", self.workspace_name);
        field(7, "model_name", self.model_name);
        field(8, "version_or_name", self.version_or_name);
        field(9, "time_updated", self.time_updated);
        field(10, "redirect_metadata", self.redirect_metadata);
    }
};

/// → nothing. Names the version as update_version does.
struct delete_version {
    static constexpr command_type type{25};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = true};

    version_id id;
    model_id registered_model_id;
    std::string workspace_name;
    std::string model_name;
    std::string version_or_name;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "registered_model_id", self.registered_model_id);
        field(3, "workspace_name", self.workspace_name);
        field(4, "model_name", self.model_name);
        field(5, "version_or_name", self.version_or_name);
    }
};

/// → model_version
struct lock_version {
    static constexpr command_type type{26};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = false};

    version_id id;
    schemas::lock_level lock_level = schemas::lock_level::unknown;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "lock_level", self.lock_level);
    }
};

/// → model_version. PATCH …/full_body: the members in `present` become what the version holds, or nothing.
struct update_version_members {
    static constexpr command_type type{27};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = false};

    update_version update;  // its mode is update_mode::members

    static constexpr void describe(auto& self, auto&& field) { field(1, "update", self.update); }
};

/// → model_version. A PATCH of what a version is made of, in which code merges by name.
struct log_version_parts {
    static constexpr command_type type{28};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = false};

    update_version update;  // its mode is update_mode::merge

    static constexpr void describe(auto& self, auto&& field) { field(1, "update", self.update); }
};

using version_commands = command_list<create_version, update_version, delete_version, lock_version,
                                      update_version_members, log_version_parts>;

}  // namespace herald::schemas::commands
