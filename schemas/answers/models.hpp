// Answers about registered models (wire.md §3).
#pragma once

#include "schemas/answers/answer.hpp"
#include "schemas/registry.hpp"
#include "schemas/sharing.hpp"

namespace herald::schemas::answers {

/// The record, with owner_id and workspace_service_id in addition to owner and workspace_id.
struct model {
    model_id id;
    std::string name;
    std::string description;
    std::vector<std::string> labels;
    std::vector<key_value> attributes;
    std::string readme_text;
    user_id owner;
    schemas::workspace_id workspace_id;
    std::optional<schemas::visibility> visibility;
    schemas::resource_visibility resource_visibility = schemas::resource_visibility::unknown;
    std::optional<schemas::custom_permission> custom_permission;
    std::int64_t time_created = 0;
    std::int64_t time_updated = 0;
    std::uint64_t version_number = 0;
    schemas::data_type data_type = schemas::data_type::unknown;
    schemas::task_type task_type = schemas::task_type::unknown;
    bool pii = false;
    user_id owner_id;
    schemas::workspace_id workspace_service_id;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "name", self.name);
        field(3, "description", self.description);
        field(4, "labels", self.labels);
        field(5, "attributes", self.attributes);
        field(6, "readme_text", self.readme_text);
        field(7, "owner", self.owner);
        field(8, "workspace_id", self.workspace_id);
        field(9, "visibility", self.visibility);
        field(10, "resource_visibility", self.resource_visibility);
        field(11, "custom_permission", self.custom_permission);
        field(12, "time_created", self.time_created);
        field(13, "time_updated", self.time_updated);
        field(14, "version_number", self.version_number);
        field(15, "data_type", self.data_type);
        field(16, "task_type", self.task_type);
        field(17, "pii", self.pii);
        field(18, "owner_id", self.owner_id);
        field(19, "workspace_service_id", self.workspace_service_id);
    }
};

model of(schemas::registered_model);

struct registered_model {
    model registered_model_;

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "registered_model", self.registered_model_);
    }
};

struct count_of_models {
    std::uint64_t count = 0;

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) { field(1, "count", self.count); }
};

struct registered_models {
    std::vector<model> registered_models_;
    std::uint64_t total_records = 0;
    std::string next_page_token;  // empty: there are no more

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "registered_models", self.registered_models_);
        field(2, "total_records", self.total_records);
        field(3, "next_page_token", self.next_page_token);
    }
};

}  // namespace herald::schemas::answers
