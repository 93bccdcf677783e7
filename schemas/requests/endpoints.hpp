// Bodies about endpoints, their stages and access tokens (wire.md §5).
#pragma once

#include "schemas/endpoints.hpp"
#include "schemas/requests/request.hpp"
#include "schemas/sharing.hpp"

namespace herald::schemas::requests {

/// The body is echoed as a whole; how the endpoint is shared is only echoed.
struct create_endpoint {
    std::string path;
    std::string description;
    std::optional<schemas::custom_permission> custom_permission;
    std::optional<schemas::visibility> visibility;
    std::optional<schemas::resource_visibility> resource_visibility;

    static constexpr std::array<std::string_view, 1> required{"path"};
    static constexpr std::array server_owned{owned{"id"}};
    static constexpr std::string_view example = R"({"path":"/churn","description":"Who leaves next month"})";
    HERALD_DESCRIBE(path, description, custom_permission, visibility, resource_visibility);
};

struct create_endpoint_stage {
    std::string name;
    std::optional<bool> autocreate_token;  // absent: true

    static constexpr std::array<std::string_view, 1> required{"name"};
    static constexpr std::array server_owned{owned{"id"}};
    static constexpr std::string_view example = R"({"name":"production"})";
    HERALD_DESCRIBE(name, autocreate_token);
};

/// Without a value one is made.
struct create_access_token {
    std::string value;
    std::string label;
    json_text expires;  // ISO-8601 or milliseconds since the epoch

    static constexpr std::array server_owned{owned{"id"}};
    static constexpr std::string_view example = R"({"label":"churn-batch","expires":"2035-01-31T00:00:00Z"})";
    HERALD_DESCRIBE(value, label, expires);
};

/// The parts of a version's image.
struct docker_context {
    version_id model_version_id;
    std::string run_id;
    bool self_contained = false;

    static constexpr std::string_view example = R"({"model_version_id":1,"self_contained":false})";
    HERALD_DESCRIBE(model_version_id, run_id, self_contained);
};

struct manifest_endpoint {
    std::string path;

    static constexpr std::array<std::string_view, 1> required{"path"};
    HERALD_DESCRIBE(path);
};

/// An update as it would be sent to a stage.
struct operations_manifest {
    std::optional<manifest_endpoint> endpoint;
    std::string name;
    json_text update;
    std::string workspace_name;

    static constexpr std::array<std::string_view, 1> required{"endpoint"};
    static constexpr std::string_view example =
        R"({"endpoint":{"path":"/churn"},"name":"churn","update":{"strategy":"rollout","env":[{"name":"A","value":"b"}]}})";
    HERALD_DESCRIBE(endpoint, name, update, workspace_name);
};

/// The place of the reference data of the version that the endpoint serves.
struct ingest_reference {
    std::string bucket;
    std::string path;

    static constexpr std::string_view example = R"({"bucket":"models","path":"7/reference_data.csv"})";
    HERALD_DESCRIBE(bucket, path);
};

}  // namespace herald::schemas::requests
