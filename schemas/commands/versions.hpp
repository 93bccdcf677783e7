// Model versions. Numbers 20 to 29 and 130 to 149, shared with models.
#pragma once

#include "schemas/commands/envelope.hpp"
#include "schemas/commands/models.hpp"
#include "schemas/registry.hpp"

namespace herald::schemas::commands {

/// → model_version. Names the model by id, or by workspace and name.
struct create_version {
    static constexpr command_type type{21};

    model_id registered_model_id;
    std::string workspace_name;
    std::string model_name;
    version_content version;
    schemas::lock_level lock_level = schemas::lock_level::open;
    std::string experiment_run_id;

    HERALD_DESCRIBE(registered_model_id, workspace_name, model_name, version, lock_level, experiment_run_id);
};

/// → model_version. Names the version by id, or by workspace, model and its own id or name. With a non-empty
/// redirect_metadata while a promotion is in progress, it completes the promotion and does nothing else
/// (wire.md "Promotion status").
struct update_version {
    static constexpr command_type type{22};

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

    HERALD_DESCRIBE(id, registered_model_id, mode, present, version, workspace_name, model_name,
                    version_or_name, time_updated, redirect_metadata);
};

/// → nothing. Names the version as update_version does.
struct delete_version {
    static constexpr command_type type{25};
    static constexpr command_traits traits{.passes_full_disk = true};

    version_id id;
    model_id registered_model_id;
    std::string workspace_name;
    std::string model_name;
    std::string version_or_name;

    HERALD_DESCRIBE(id, registered_model_id, workspace_name, model_name, version_or_name);
};

/// → model_version
struct lock_version {
    static constexpr command_type type{26};

    version_id id;
    schemas::lock_level lock_level = schemas::lock_level::unknown;

    HERALD_DESCRIBE(id, lock_level);
};

/// → model_version. PATCH …/full_body: the members in `present` become what the version holds, or nothing.
struct update_version_members {
    static constexpr command_type type{27};

    update_version update;  // its mode is update_mode::members

    HERALD_DESCRIBE(update);
};

/// → model_version. A PATCH of what a version is made of, in which code merges by name.
struct log_version_parts {
    static constexpr command_type type{28};

    update_version update;  // its mode is update_mode::merge

    HERALD_DESCRIBE(update);
};

using version_commands = command_list<create_version, update_version, delete_version, lock_version,
                                      update_version_members, log_version_parts>;

}  // namespace herald::schemas::commands
