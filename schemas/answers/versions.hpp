// Answers about model versions (wire.md §3).
#pragma once

#include "schemas/answers/answer.hpp"
#include "schemas/registry.hpp"
#include "schemas/sharing.hpp"

namespace herald::schemas::answers {

struct version {
    version_id id;
    model_id registered_model_id;
    std::string name;
    std::uint64_t version_number = 0;
    std::int64_t time_created = 0;
    std::int64_t time_updated = 0;
    std::string description;
    std::vector<std::string> labels;
    std::string readme_text;
    user_id owner;
    std::vector<key_value> attributes;
    schemas::stage stage = schemas::stage::unassigned;
    schemas::lock_level lock_level = schemas::lock_level::open;
    std::string experiment_run_id;
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
    std::string redirect_metadata;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "registered_model_id", self.registered_model_id);
        field(3, "version", self.name);
        field(4, "version_number", self.version_number);
        field(5, "time_created", self.time_created);
        field(6, "time_updated", self.time_updated);
        field(7, "description", self.description);
        field(8, "labels", self.labels);
        field(9, "readme_text", self.readme_text);
        field(10, "owner", self.owner);
        field(11, "attributes", self.attributes);
        field(12, "stage", self.stage);
        field(13, "lock_level", self.lock_level);
        field(14, "experiment_run_id", self.experiment_run_id, shown::when_set);
        field(15, "model", self.model);
        field(16, "artifacts", self.artifacts);
        field(17, "environment", self.environment, shown::when_set);
        field(18, "docker_metadata", self.docker_metadata, shown::when_set);
        field(19, "datasets", self.datasets);
        field(20, "code_blob_map", self.code_blob_map, shown::when_set);
        field(21, "archived", self.archived);
        field(22, "apis", self.apis);
        field(23, "input_description", self.input_description);
        field(24, "output_description", self.output_description);
        field(25, "hide_input_label", self.hide_input_label);
        field(26, "hide_output_label", self.hide_output_label);
        field(27, "redirect_metadata", self.redirect_metadata, shown::when_set);
    }
};

version of(schemas::model_version);

struct model_version {
    version model_version_;

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "model_version", self.model_version_);
    }
};

struct model_versions {
    std::vector<version> model_versions_;
    std::uint64_t total_records = 0;
    std::string next_page_token;  // empty: there are no more

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "model_versions", self.model_versions_);
        field(2, "total_records", self.total_records);
        field(3, "next_page_token", self.next_page_token);
    }
};

}  // namespace herald::schemas::answers
