// Scans of builds. Numbers 40 to 49, shared with builds.
#pragma once

#include "schemas/commands/envelope.hpp"
#include "schemas/deployment.hpp"

namespace herald::schemas::commands {

/// → scan
struct request_scan {
    static constexpr command_type type{41};

    std::string workspace_name;
    schemas::build_id build_id;
    json_text creator_request;

    HERALD_DESCRIBE(workspace_name, build_id, creator_request);
};

/// Scans the newest finished build of the version. → scan
struct request_version_scan {
    static constexpr command_type type{43};

    version_id model_version_id;
    json_text creator_request;

    HERALD_DESCRIBE(model_version_id, creator_request);
};

/// → scan
struct report_scan {
    static constexpr command_type type{42};
    static constexpr command_traits traits{.passes_full_disk = true, .withdraws = true};

    std::string workspace_name;
    schemas::build_id build_id;
    schemas::scan_status scan_status = schemas::scan_status::unscanned;
    schemas::safety_status safety_status = schemas::safety_status::unknown;
    std::string url;

    HERALD_DESCRIBE(workspace_name, build_id, scan_status, safety_status, url);
};

/// From the holder of the claim "webhook-health": a delivery of a scan's request has ended without reaching
/// its webhook. → nothing
struct delivery_ended {
    static constexpr command_type type{45};
    static constexpr command_traits traits{.from = sender::node, .passes_full_disk = true};

    schemas::event_id event_id;
    schemas::build_id build_id;
    schemas::webhook_id webhook_id;
    delivery_end ended = delivery_end::none;
    std::uint64_t token = 0;  // of the claim

    HERALD_DESCRIBE(event_id, build_id, webhook_id, ended, token);
};

using scan_commands = command_list<request_scan, report_scan, request_version_scan, delivery_ended>;

}  // namespace herald::schemas::commands
