// Answers about builds and scans (wire.md §4): ids are numbers, times ISO-8601.
#pragma once

#include "schemas/answers/answer.hpp"
#include "schemas/deployment.hpp"

namespace herald::schemas::answers {

struct build : build_record {
    using shown_inline = build_record;
    static constexpr integers style = integers::as_numbers;
    static constexpr void describe(auto& self, auto&& field) { build_record::describe(self, field); }
};

build of(schemas::build);

struct builds : page<"builds", build, integers::as_numbers> {};

struct scan_results {
    schemas::safety_status safety_status = schemas::safety_status::unknown;
    std::string url;

    HERALD_DESCRIBE(safety_status, url);
};

struct earlier_scan {
    scan_id id;
    schemas::build_id build_id;
    json_text creator_request;
    std::string date_created;
    std::string date_updated;
    schemas::scan_status scan_status = schemas::scan_status::unscanned;
    schemas::safety_status safety_status = schemas::safety_status::unknown;
    scan_results scan_external_status;
    scan_results scan_external_results;
    std::string message;

    HERALD_DESCRIBE(id, build_id, creator_request, date_created, date_updated, scan_status, safety_status,
                    scan_external_status, scan_external_results, message);
};

earlier_scan of(schemas::scan);

/// A node that may still serve a build, at the latest until then.
struct unconfirmed_node {
    std::string node;
    std::string serves_until;

    HERALD_DESCRIBE(node, serves_until);
};

/// The build's newest scan; `history` has those before it, oldest first. `unconfirmed` are the nodes that
/// serve predictions and are not yet known to have heard that the build is unsafe.
struct scan : earlier_scan {
    std::vector<unconfirmed_node> unconfirmed;
    std::vector<earlier_scan> history;

    using shown_inline = earlier_scan;
    static constexpr integers style = integers::as_numbers;
    static constexpr void describe(auto& self, auto&& field) {
        earlier_scan::describe(self, field);
        field(30, "unconfirmed", self.unconfirmed);
        field(31, "history", self.history);
    }
};

scan of(schemas::scan newest, std::vector<earlier_scan> history,
        std::vector<unconfirmed_node> unconfirmed = {});

}  // namespace herald::schemas::answers
