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

struct builds {
    std::vector<build> builds_;
    std::uint64_t total_records = 0;
    std::string next_page_token;

    static constexpr integers style = integers::as_numbers;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "builds", self.builds_);
        field(2, "total_records", self.total_records);
        field(3, "next_page_token", self.next_page_token);
    }
};

struct scan_results {
    schemas::safety_status safety_status = schemas::safety_status::unknown;
    std::string url;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "safety_status", self.safety_status);
        field(2, "url", self.url);
    }
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

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "build_id", self.build_id);
        field(3, "creator_request", self.creator_request);
        field(4, "date_created", self.date_created);
        field(5, "date_updated", self.date_updated);
        field(6, "scan_status", self.scan_status);
        field(7, "safety_status", self.safety_status);
        field(8, "scan_external_status", self.scan_external_status);
        field(9, "scan_external_results", self.scan_external_results);
        field(10, "message", self.message);
    }
};

earlier_scan of(schemas::scan);

/// A node that may still serve a build, at the latest until then.
struct unconfirmed_node {
    std::string node;
    std::string serves_until;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "node", self.node);
        field(2, "serves_until", self.serves_until);
    }
};

/// The build's newest scan; `history` has those before it, oldest first. `unconfirmed` are the nodes that
/// serve predictions and are not yet known to have heard that the build is unsafe.
struct scan {
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
    std::vector<unconfirmed_node> unconfirmed;
    std::vector<earlier_scan> history;

    static constexpr integers style = integers::as_numbers;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "build_id", self.build_id);
        field(3, "creator_request", self.creator_request);
        field(4, "date_created", self.date_created);
        field(5, "date_updated", self.date_updated);
        field(6, "scan_status", self.scan_status);
        field(7, "safety_status", self.safety_status);
        field(8, "scan_external_status", self.scan_external_status);
        field(9, "scan_external_results", self.scan_external_results);
        field(10, "message", self.message);
        field(11, "unconfirmed", self.unconfirmed);
        field(12, "history", self.history);
    }
};

scan of(schemas::scan newest, std::vector<earlier_scan> history,
        std::vector<unconfirmed_node> unconfirmed = {});

}  // namespace herald::schemas::answers
