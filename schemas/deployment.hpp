// Builds and their vulnerability scans (wire.md §4, spec.md §2.4).
#pragma once

#include "schemas/artifacts.hpp"
#include "schemas/enums.hpp"
#include "schemas/tensors.hpp"

namespace herald::schemas {

/// What a user may set in a build: the same members, with the same numbers, in the row, the command, the body
/// and the answer.
struct build_content {
    std::string upstream_url;
    bool requires_root = false;
    bool scan_external = false;
    bool self_contained = false;
    bool uses_flask = false;

    static constexpr void describe(auto& self, auto&& field) {
        field(30, "upstream_url", self.upstream_url);
        field(31, "requires_root", self.requires_root);
        field(32, "scan_external", self.scan_external);
        field(33, "self_contained", self.self_contained);
        field(34, "uses_flask", self.uses_flask);
    }
};

struct build : build_content {
    build_id id;
    schemas::workspace_id workspace_id;
    version_id model_version_id;
    build_status status = build_status::building;
    std::string location;  // image reference or URL
    std::string message;
    std::int64_t time_created = 0;
    std::int64_t time_updated = 0;
    json_text creator_request;        // echoed as a whole
    std::string runtime;              // what runs it, as engines and heartbeats name it; empty: nothing does
    schemas::scan_id scan_id;         // the newest; 0: unscanned
    schemas::scan_id unsafe_scan_id;  // the first that reported the build unsafe; 0: none did
    // The model of a build that Herald makes; the build holds its own reference to these bytes.
    std::vector<blob_part> model_parts;
    std::string base_url;      // where who asked for it found a node
    std::string image_digest;  // SHA-256, 32 bytes, once it is finished
    std::uint64_t image_bytes = 0;
    model_signature signature;
    std::uint64_t unsafe_offset = 0;  // of the report that it is unsafe
    user_id created_by;
    // Of the newest scan.
    schemas::scan_status scan_status = schemas::scan_status::unscanned;
    schemas::safety_status safety_status = schemas::safety_status::unknown;

    using shown_inline = build_content;
    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(id, workspace_id, model_version_id, status, location, message, time_created,
                      time_updated, creator_request, scan_id, unsafe_scan_id, model_parts, base_url,
                      image_digest, image_bytes, signature);
        field(17, "unsafe_offset", self.unsafe_offset);
        field(18, "created_by", self.created_by);
        field(19, "scan_status", self.scan_status);
        field(20, "safety_status", self.safety_status);
        field(21, "runtime", self.runtime);
        build_content::describe(self, field);
    }
};

/// An input or an output of a build's model, in the words of the Open Inference Protocol. A length of -1 is
/// free; without a shape, the model does not say how many dimensions there are.
struct model_tensor {
    std::string name;
    std::string datatype;
    std::optional<std::vector<std::int64_t>> shape;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "name", self.name);
        field(2, "datatype", self.datatype);
        field(3, "shape", self.shape, shown::when_set);
    }
};

/// A build as it is shown: ids are numbers, times ISO-8601.
struct build_record : build_content {
    build_id id;
    version_id model_version_id;
    schemas::workspace_id workspace_id;
    build_status status = build_status::building;
    std::string location;
    std::string message;
    std::string date_created;
    std::string date_updated;
    json_text creator_request;
    // Of the newest scan.
    schemas::scan_status scan_status = schemas::scan_status::unscanned;
    schemas::safety_status safety_status = schemas::safety_status::unknown;
    // Known of builds that Herald made of a model.
    std::vector<model_tensor> inputs;
    std::vector<model_tensor> outputs;

    using shown_inline = build_content;
    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(id, model_version_id, workspace_id, status, location, message, date_created,
                      date_updated, creator_request, scan_status, safety_status, inputs, outputs);
        build_content::describe(self, field);
    }
};
build_record record_of(build);

/// How the delivery of a scan's request ended at one webhook without reaching it.
enum class delivery_end : std::uint8_t { none, dead, skipped, held };
template <>
inline constexpr auto enum_names<delivery_end> = in_order<delivery_end>("none", "dead", "skipped", "held");

/// A webhook that was to hear a scan's request. `none`: it may still.
struct scan_listener {
    schemas::webhook_id webhook_id;
    delivery_end ended = delivery_end::none;

    HERALD_DESCRIBE(webhook_id, ended);
};

/// One scan of a build. A new request makes a new one; older ones stay as history.
struct scan {
    scan_id id;
    schemas::build_id build_id;
    schemas::scan_status scan_status = schemas::scan_status::unscanned;
    schemas::safety_status safety_status = schemas::safety_status::unknown;
    std::string url;  // details of the result
    json_text creator_request;
    std::int64_t time_created = 0;
    std::int64_t time_updated = 0;
    schemas::event_id event_id;  // of the REQUEST_SCAN event; empty when the feature flag was off
    user_id requested_by;
    std::string message;                  // why the status is error, or why the build remains ineligible
    bool waits_for_build = false;         // REQUEST_SCAN is sent once the build is finished
    std::vector<scan_listener> audience;  // of REQUEST_SCAN

    HERALD_DESCRIBE(id, build_id, scan_status, safety_status, url, creator_request, time_created,
                    time_updated, event_id, requested_by, message, waits_for_build, audience);
};

}  // namespace herald::schemas
