// Bodies about builds and their scans (wire.md §4, spec.md §4.4).
#pragma once

#include "schemas/deployment.hpp"
#include "schemas/json_schema.hpp"
#include "schemas/limits.hpp"
#include "schemas/requests/request.hpp"

namespace herald::schemas::requests {

/// The body is echoed as a whole; members without effect here are only echoed.
struct create_build : build_content {
    version_id model_version_id;
    std::string run_id;
    std::string external_location;
    json_text hardware_compatibility;

    using shown_inline = build_content;
    static constexpr std::string_view example =
        R"({"model_version_id":1,"external_location":"registry.example.com/churn:7","scan_external":true})";
    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(model_version_id, run_id, external_location, hardware_compatibility);
        build_content::describe(self, field);
    }
};

/// The message of a build is a JSON string by itself.
inline std::string build_message_schema(schema_set&) {
    return object_writer()
        .text("type", "string")
        .number("maxLength", limits::comment_bytes_max)
        .text("example", "The image is being copied to the production registry")
        .finish();
}

struct request_scan {
    std::optional<bool> scan_external;  // false is refused: Herald itself does not scan

    static constexpr std::string_view example = R"({"scan_external":true})";
    HERALD_DESCRIBE(scan_external);
};

struct scan_results {
    schemas::safety_status safety_status = schemas::safety_status::unknown;
    std::string url;

    HERALD_DESCRIBE(safety_status, url);
};

struct report_scan {
    std::optional<scan_results> scan_external_results;
    std::optional<scan_ending> scan_status;

    static constexpr std::array<std::string_view, 1> required{"scan_status"};
    static constexpr std::string_view example =
        R"({"scan_status":"scanned","scan_external_results":{"safety_status":"safe","url":"https://scanner.example.com/7"}})";
    HERALD_DESCRIBE(scan_external_results, scan_status);
};

}  // namespace herald::schemas::requests
