// Registered models, their versions, stage transitions and promotions (wire.md §3, spec.md §2.3).
#pragma once

#include "schemas/enums.hpp"
#include "schemas/sharing.hpp"

namespace herald::schemas {

struct key_value {
    std::string key;
    json_text value;
    schemas::value_type value_type = schemas::value_type::string;  // which has no bearing on the value

    friend bool operator==(const key_value&, const key_value&) = default;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "key", self.key);
        field(2, "value", self.value);
        field(3, "value_type", self.value_type, shown::when_set);
    }
};

struct artifact {
    std::string key;
    std::string path;
    bool path_only = false;
    schemas::artifact_type artifact_type = schemas::artifact_type::image;
    std::string filename_extension;
    std::string serialization;
    std::string artifact_subtype;
    bool upload_completed = false;
    std::string linked_artifact_id;

    friend bool operator==(const artifact&, const artifact&) = default;
    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(key, path, path_only, artifact_type, filename_extension, serialization,
                      artifact_subtype);
        field(8, "upload_completed", self.upload_completed, shown::read_only);
        field(9, "linked_artifact_id", self.linked_artifact_id, shown::when_set);
    }
};

/// What a user may set in a model: the same members, with the same numbers, in the row, the commands, the
/// bodies and the answers.
struct model_content {
    std::string name;  // unique in its workspace
    std::string description;
    std::vector<std::string> labels;  // in a row sorted, without duplicates
    std::vector<key_value> attributes;
    std::string readme_text;
    std::optional<schemas::visibility> visibility;  // echoed
    schemas::resource_visibility resource_visibility = schemas::resource_visibility::unknown;
    std::optional<schemas::custom_permission> custom_permission;  // echoed
    schemas::data_type data_type = schemas::data_type::unknown;
    schemas::task_type task_type = schemas::task_type::unknown;
    bool pii = false;

    static constexpr void describe(auto& self, auto&& field) {
        field(30, "name", self.name);
        field(31, "description", self.description);
        field(32, "labels", self.labels);
        field(33, "attributes", self.attributes);
        field(34, "readme_text", self.readme_text);
        field(35, "visibility", self.visibility);
        field(36, "resource_visibility", self.resource_visibility);
        field(37, "custom_permission", self.custom_permission);
        field(38, "data_type", self.data_type);
        field(39, "task_type", self.task_type);
        field(40, "pii", self.pii);
    }
};

/// A model as it is shown.
struct model_record : model_content {
    model_id id;
    user_id owner;
    schemas::workspace_id workspace_id;
    std::int64_t time_created = 0;
    std::int64_t time_updated = 0;
    std::uint64_t version_number = 0;

    using shown_inline = model_content;
    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(id, owner, workspace_id, time_created, time_updated, version_number);
        model_content::describe(self, field);
    }
};

struct registered_model : model_record {
    /// version_number of the newest version ever made; never decreases.
    std::uint64_t versions_made = 0;

    using shown_inline = model_record;
    static constexpr void describe(auto& self, auto&& field) {
        model_record::describe(self, field);
        field(80, "versions_made", self.versions_made, shown::never);
    }
};

/// What a user may set in a version: the same members, with the same numbers, in the row, the commands, the
/// bodies and the answers.
struct version_content {
    std::string version;  // its name, unique in its model
    std::string description;
    std::vector<std::string> labels;  // in a row sorted, without duplicates
    std::string readme_text;
    std::vector<key_value> attributes;  // in insertion order
    std::optional<artifact> model;
    std::vector<artifact> artifacts;
    json_text environment;
    json_text docker_metadata;
    std::vector<artifact> datasets;
    json_text code_blob_map;
    ternary archived = ternary::unknown;  // in a row TRUE or FALSE
    std::vector<std::string> apis;
    std::string input_description;
    std::string output_description;
    bool hide_input_label = false;
    bool hide_output_label = false;

    static constexpr void describe(auto& self, auto&& field) {
        field(30, "version", self.version);
        field(31, "description", self.description);
        field(32, "labels", self.labels);
        field(33, "readme_text", self.readme_text);
        field(34, "attributes", self.attributes);
        field(35, "model", self.model);
        field(36, "artifacts", self.artifacts);
        field(37, "environment", self.environment, shown::when_set);
        field(38, "docker_metadata", self.docker_metadata, shown::when_set);
        field(39, "datasets", self.datasets);
        field(40, "code_blob_map", self.code_blob_map, shown::when_set);
        field(41, "archived", self.archived);
        field(42, "apis", self.apis);
        field(43, "input_description", self.input_description);
        field(44, "output_description", self.output_description);
        field(45, "hide_input_label", self.hide_input_label);
        field(46, "hide_output_label", self.hide_output_label);
    }
};

/// A version as it is shown.
struct version_record : version_content {
    version_id id;
    model_id registered_model_id;
    std::uint64_t version_number = 0;
    std::int64_t time_created = 0;
    std::int64_t time_updated = 0;
    user_id owner;
    schemas::stage stage = schemas::stage::unassigned;
    schemas::lock_level lock_level = schemas::lock_level::open;
    std::string experiment_run_id;
    std::string redirect_metadata;

    using shown_inline = version_content;
    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(id, registered_model_id, version_number, time_created, time_updated, owner, stage,
                      lock_level);
        field(9, "experiment_run_id", self.experiment_run_id, shown::when_set);
        field(10, "redirect_metadata", self.redirect_metadata, shown::when_set);
        version_content::describe(self, field);
    }
};

struct model_version : version_record {
    schemas::workspace_id workspace_id;
    /// When what a lock protects was last changed, and when that of it of which an image is made; 0: never.
    std::int64_t time_ingredients_changed = 0;
    std::int64_t time_image_changed = 0;

    using shown_inline = version_record;
    static constexpr void describe(auto& self, auto&& field) {
        version_record::describe(self, field);
        field(80, "workspace_id", self.workspace_id, shown::never);
        field(81, "time_ingredients_changed", self.time_ingredients_changed, shown::never);
        field(82, "time_image_changed", self.time_image_changed, shown::never);
    }
};

struct transition {
    activity_id id;
    schemas::stage source_stage = schemas::stage::unknown;
    schemas::stage desired_stage = schemas::stage::unknown;
    transition_state state = transition_state::unknown;

    friend bool operator==(const transition&, const transition&) = default;
    HERALD_DESCRIBE(id, source_stage, desired_stage, state);
};

struct nothing {
    friend bool operator==(const nothing&, const nothing&) = default;
    static constexpr void describe(auto&, auto&&) {}
};

struct stage_update {
    schemas::stage stage = schemas::stage::unknown;

    friend bool operator==(const stage_update&, const stage_update&) = default;
    HERALD_DESCRIBE(stage);
};

/// One entry in a version's stage history: exactly one of transition, approval, rejection, close, update is
/// set; none of them in a mere comment.
struct activity {
    activity_id id;
    version_id model_version_id;
    user_id author_id;
    std::int64_t time_created = 0;
    std::string comment;
    std::optional<schemas::transition> transition;
    std::optional<nothing> approval;
    std::optional<nothing> rejection;
    std::optional<nothing> close;
    std::optional<stage_update> update;  // set by a commit, and by a change without a transition
    /// State of the transition after this activity.
    transition_state activity_state = transition_state::unknown;
    /// The transition that an approval, rejection, close or update belongs to.
    activity_id transition_id;
    /// Why an approval did not commit, where it was to (workspace_policies::commit_on_approve), or why a
    /// build could not be made for a scan of the version.
    std::string message;

    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(id, model_version_id, author_id, time_created, comment, transition, approval, rejection,
                      close, update, activity_state);
        field(12, "transition_id", self.transition_id, shown::when_set);
        field(13, "message", self.message, shown::when_set);
    }
};

/// The state of a version's newest promotion (wire.md "Promotion status"), as it is shown.
struct promotion_record {
    version_id model_version_id;
    promotion_status status = promotion_status::none;
    activity_id transition_id;
    schemas::event_id event_id;  // empty when the feature flag was off
    user_id requested_by;
    std::vector<user_id> approved_by;
    std::int64_t time_requested = 0;
    std::int64_t time_committed = 0;
    std::int64_t time_completed = 0;
    std::string redirect_metadata;
    std::string reason;  // why it failed

    HERALD_DESCRIBE(model_version_id, status, transition_id, event_id, requested_by, approved_by,
                    time_requested, time_committed, time_completed, redirect_metadata, reason);
};

struct promotion : promotion_record {
    std::uint64_t audience = 0;  // number of webhooks that the event is for
    std::string completion;      // SHA-256 of the update that completed it: repeating that changes nothing
    std::int64_t time_due = 0;   // it has failed when it is not complete by then; 0: it may take for ever

    using shown_inline = promotion_record;
    static constexpr void describe(auto& self, auto&& field) {
        promotion_record::describe(self, field);
        field(30, "audience", self.audience, shown::never);
        field(31, "completion", self.completion, shown::never);
        field(32, "time_due", self.time_due, shown::never);
    }
};

}  // namespace herald::schemas
