// Bodies about model versions (wire.md §3).
#pragma once

#include "schemas/commands/versions.hpp"
#include "schemas/requests/request.hpp"
#include "schemas/sharing.hpp"

namespace herald::schemas::requests {

struct create_version : version_content {
    schemas::lock_level lock_level = schemas::lock_level::unknown;
    std::string experiment_run_id;

    using shown_inline = version_content;
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
        field(1, "lock_level", self.lock_level);
        field(2, "experiment_run_id", self.experiment_run_id);
        version_content::describe(self, field);
    }
};

/// Body of PATCH and PUT. time_updated is the one that the caller had read: a completion with an old one is
/// refused.
struct update_version : version_content {
    std::int64_t time_updated = 0;
    std::string redirect_metadata;

    using shown_inline = version_content;
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
        field(1, "time_updated", self.time_updated);
        field(2, "redirect_metadata", self.redirect_metadata);
        version_content::describe(self, field);
    }
};

/// Body of PATCH …/full_body.
struct update_version_members {
    update_version model_version;
    std::optional<requests::update_mask> update_mask;  // none: the members that are present

    static constexpr std::array server_owned{owned{"id", "is taken from the path"}};
    static constexpr std::string_view example =
        R"({"model_version":{"environment":{"python":{}}},"update_mask":{"paths":["environment","apis"]}})";
    HERALD_DESCRIBE(model_version, update_mask);
};

struct lock_version {
    schemas::lock_level lock_level = schemas::lock_level::unknown;

    static constexpr std::array<std::string_view, 1> required{"lock_level"};
    static constexpr std::string_view example = R"({"lock_level":"REDACT"})";
    HERALD_DESCRIBE(lock_level);
};

// The calls that log what a version is made of. They may name the version again, as the path does.

struct log_datasets {
    version_id model_version_id;
    std::vector<artifact> datasets;

    static constexpr std::array<std::string_view, 1> required{"datasets"};
    static constexpr std::string_view example =
        R"({"datasets":[{"key":"train","path_only":true,"artifact_type":"DATA","linked_artifact_id":"7"}]})";
    HERALD_DESCRIBE(model_version_id, datasets);
};

struct log_code {
    version_id model_version_id;
    json_text code_blob_map;

    static constexpr std::array<std::string_view, 1> required{"code_blob_map"};
    static constexpr std::string_view example =
        R"({"code_blob_map":{"training":{"git":{"repo":"https://example.org/churn.git","hash":"4f2a"}}}})";
    HERALD_DESCRIBE(model_version_id, code_blob_map);
};

struct log_attributes {
    version_id model_version_id;
    std::vector<key_value> attributes;

    static constexpr std::array<std::string_view, 1> required{"attributes"};
    static constexpr std::string_view example = R"({"attributes":[{"key":"auc","value":0.91}]})";
    HERALD_DESCRIBE(model_version_id, attributes);
};

struct log_docker_metadata {
    version_id model_version_id;
    json_text docker_metadata;

    static constexpr std::array<std::string_view, 1> required{"docker_metadata"};
    static constexpr std::string_view example = R"({"docker_metadata":{"request_port":8080}})";
    HERALD_DESCRIBE(model_version_id, docker_metadata);
};
/// Made of each of them; members that it lacks are empty.
template <class Log>
version_content content_of_log(Log sent) {
    version_content content;
    if constexpr (requires { sent.datasets; }) content.datasets = std::move(sent.datasets);
    if constexpr (requires { sent.code_blob_map; }) content.code_blob_map = std::move(sent.code_blob_map);
    if constexpr (requires { sent.attributes; }) content.attributes = std::move(sent.attributes);
    if constexpr (requires { sent.docker_metadata; })
        content.docker_metadata = std::move(sent.docker_metadata);
    return content;
}

}  // namespace herald::schemas::requests
