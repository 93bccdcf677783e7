// Bodies about the bytes of artifacts (wire.md §3 "artifact upload, download").
#pragma once

#include "schemas/registry.hpp"
#include "schemas/requests/request.hpp"

namespace herald::schemas::requests {

struct get_url_for_artifact {
    version_id model_version_id;  // that of the path, or none
    std::string key;
    std::string method;
    schemas::artifact_type artifact_type = schemas::artifact_type::image;
    std::uint64_t part_number = 0;

    static constexpr std::array<std::string_view, 2> required{"key", "method"};
    static constexpr std::string_view example = R"({"key":"model","method":"PUT","part_number":"1"})";
    HERALD_DESCRIBE(model_version_id, key, method, artifact_type, part_number);
};

struct artifact_part {
    std::uint64_t part_number = 0;
    std::string etag;

    static constexpr std::array<std::string_view, 2> required{"part_number", "etag"};
    HERALD_DESCRIBE(part_number, etag);
};

struct commit_artifact_part {
    version_id model_version_id;
    std::string key;
    requests::artifact_part artifact_part;

    static constexpr std::array<std::string_view, 2> required{"key", "artifact_part"};
    static constexpr std::string_view example =
        R"({"key":"model","artifact_part":{"part_number":"1","etag":"\"9f86d081\""}})";
    HERALD_DESCRIBE(model_version_id, key, artifact_part);
};

struct commit_multipart_artifact {
    version_id model_version_id;
    std::string key;
    /// All parts of the artifact, in order; empty: those that were committed.
    std::vector<artifact_part> artifact_parts;

    static constexpr std::array<std::string_view, 1> required{"key"};
    static constexpr std::string_view example =
        R"({"key":"model","artifact_parts":[{"part_number":"1","etag":"\"9f86d081\""}]})";
    HERALD_DESCRIBE(model_version_id, key, artifact_parts);
};

}  // namespace herald::schemas::requests
