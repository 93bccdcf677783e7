// Bodies about model versions (wire.md §3).
#pragma once

#include "schemas/commands/versions.hpp"
#include "schemas/requests/request.hpp"
#include "schemas/sharing.hpp"

namespace herald::schemas::requests {

/// As stored, without what the server knows about the bytes.
struct artifact {
    std::string key;
    std::string path;
    bool path_only = false;
    schemas::artifact_type artifact_type = schemas::artifact_type::image;
    std::string filename_extension;
    std::string serialization;
    std::string artifact_subtype;
    std::string linked_artifact_id;

    static constexpr std::array server_owned{owned{"upload_completed"}};
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "key", self.key);
        field(2, "path", self.path);
        field(3, "path_only", self.path_only);
        field(4, "artifact_type", self.artifact_type);
        field(5, "filename_extension", self.filename_extension);
        field(6, "serialization", self.serialization);
        field(7, "artifact_subtype", self.artifact_subtype);
        field(8, "linked_artifact_id", self.linked_artifact_id);
    }
};

/// What creations and updates have in common.
struct version_members {
    std::string version;
    std::string description;
    std::vector<std::string> labels;
    std::string readme_text;
    std::vector<key_value> attributes;
    std::optional<artifact> model;
    std::vector<artifact> artifacts;
    json_text environment;
    json_text docker_metadata;
    std::vector<artifact> datasets;
    json_text code_blob_map;
    ternary archived = ternary::unknown;
    std::vector<std::string> apis;
    std::string input_description;
    std::string output_description;
    bool hide_input_label = false;
    bool hide_output_label = false;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "version", self.version);
        field(2, "description", self.description);
        field(3, "labels", self.labels);
        field(4, "readme_text", self.readme_text);
        field(5, "attributes", self.attributes);
        field(6, "model", self.model);
        field(7, "artifacts", self.artifacts);
        field(8, "environment", self.environment);
        field(9, "docker_metadata", self.docker_metadata);
        field(10, "datasets", self.datasets);
        field(11, "code_blob_map", self.code_blob_map);
        field(12, "archived", self.archived);
        field(13, "apis", self.apis);
        field(14, "input_description", self.input_description);
        field(15, "output_description", self.output_description);
        field(16, "hide_input_label", self.hide_input_label);
        field(17, "hide_output_label", self.hide_output_label);
    }
};

struct create_version {
    version_members common;
    schemas::lock_level lock_level = schemas::lock_level::unknown;
    std::string experiment_run_id;

    using shown_inline = version_members;
    static constexpr std::array<std::string_view, 1> required{"version"};
    static constexpr std::array server_owned{
        owned{"id"},
        owned{"registered_model_id"},
        owned{"version_number"},
        owned{"time_created"},
        owned{"time_updated"},
        owned{"owner"},
        owned{"owner_id"},
        owned{"stage", "is changed by POST /api/v1/registry/stage/createTransition"},
        owned{"redirect_metadata", "is set by an update, when a promotion is complete"}};
    static constexpr std::string_view example =
        R"({"version":"2024-06","description":"Retrained","labels":["candidate"],"lock_level":"REDACT"})";
    static constexpr void describe(auto& self, auto&& field) {
        version_members::describe(self.common, field);
        field(18, "lock_level", self.lock_level);
        field(19, "experiment_run_id", self.experiment_run_id);
    }
};
commands::version_content content_of(create_version);

/// Body of PATCH and PUT. time_updated is the one that the caller had read: a completion with an old one is
/// refused.
struct update_version {
    version_members common;
    std::int64_t time_updated = 0;
    std::string redirect_metadata;

    using shown_inline = version_members;
    static constexpr std::array server_owned{
        owned{"id"},
        owned{"registered_model_id"},
        owned{"version_number"},
        owned{"time_created"},
        owned{"owner"},
        owned{"owner_id"},
        owned{"stage", "is changed by POST /api/v1/registry/stage/createTransition"},
        owned{"lock_level", "is changed by PUT /api/v1/registry/model_versions/{id}/lock"},
        owned{"experiment_run_id", "is set at creation"}};
    static constexpr std::string_view example = R"({"redirect_metadata":"https://example.org/models/churn"})";
    static constexpr void describe(auto& self, auto&& field) {
        version_members::describe(self.common, field);
        field(18, "time_updated", self.time_updated);
        field(19, "redirect_metadata", self.redirect_metadata);
    }
};
commands::version_content content_of(update_version);

/// Body of PATCH …/full_body.
struct update_version_members {
    update_version model_version;
    std::optional<requests::update_mask> update_mask;  // none: the members that are present

    static constexpr std::array server_owned{owned{"id", "is taken from the path"}};
    static constexpr std::string_view example =
        R"({"model_version":{"environment":{"python":{}}},"update_mask":{"paths":["environment","apis"]}})";
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "model_version", self.model_version);
        field(2, "update_mask", self.update_mask);
    }
};

struct lock_version {
    schemas::lock_level lock_level = schemas::lock_level::unknown;

    static constexpr std::array<std::string_view, 1> required{"lock_level"};
    static constexpr std::string_view example = R"({"lock_level":"REDACT"})";
    static constexpr void describe(auto& self, auto&& field) { field(1, "lock_level", self.lock_level); }
};

// The calls that log what a version is made of. They may name the version again, as the path does.

struct log_datasets {
    version_id model_version_id;
    std::vector<artifact> datasets;

    static constexpr std::array<std::string_view, 1> required{"datasets"};
    static constexpr std::string_view example =
        R"({"datasets":[{"key":"train","path_only":true,"artifact_type":"DATA","linked_artifact_id":"7"}]})";
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "model_version_id", self.model_version_id);
        field(2, "datasets", self.datasets);
    }
};

struct log_code {
    version_id model_version_id;
    json_text code_blob_map;

    static constexpr std::array<std::string_view, 1> required{"code_blob_map"};
    static constexpr std::string_view example =
        R"({"code_blob_map":{"training":{"git":{"repo":"https://example.org/churn.git","hash":"4f2a"}}}})";
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "model_version_id", self.model_version_id);
        field(2, "code_blob_map", self.code_blob_map);
    }
};

struct log_attributes {
    version_id model_version_id;
    std::vector<key_value> attributes;

    static constexpr std::array<std::string_view, 1> required{"attributes"};
    static constexpr std::string_view example = R"({"attributes":[{"key":"auc","value":0.91}]})";
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "model_version_id", self.model_version_id);
        field(2, "attributes", self.attributes);
    }
};

struct log_docker_metadata {
    version_id model_version_id;
    json_text docker_metadata;

    static constexpr std::array<std::string_view, 1> required{"docker_metadata"};
    static constexpr std::string_view example = R"({"docker_metadata":{"request_port":8080}})";
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "model_version_id", self.model_version_id);
        field(2, "docker_metadata", self.docker_metadata);
    }
};
/// Made of each of them; members that it lacks are empty.
template <class Log>
commands::version_content content_of_log(Log sent) {
    update_version update;
    if constexpr (requires { sent.datasets; }) update.common.datasets = std::move(sent.datasets);
    if constexpr (requires { sent.code_blob_map; })
        update.common.code_blob_map = std::move(sent.code_blob_map);
    if constexpr (requires { sent.attributes; }) update.common.attributes = std::move(sent.attributes);
    if constexpr (requires { sent.docker_metadata; })
        update.common.docker_metadata = std::move(sent.docker_metadata);
    return content_of(std::move(update));
}

}  // namespace herald::schemas::requests
