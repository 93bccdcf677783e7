// Answers about the stages of endpoints (wire.md §5): ids are numbers, times ISO-8601.
#pragma once

#include "schemas/answers/answer.hpp"
#include "schemas/endpoints.hpp"

namespace herald::schemas::answers {

struct stage_component {
    schemas::build_id build_id;
    double ratio = 0;  // of the traffic: 1, 0.25
    component_status status = component_status::creating;
    std::string message;

    HERALD_DESCRIBE(build_id, ratio, status, message);
};

struct endpoint_stage {
    endpoint_stage_id id;
    std::string name;
    endpoint_stage_status status = endpoint_stage_status::inactive;
    std::vector<stage_component> components;
    json_text creator_request;
    std::string date_created;
    std::string date_updated;
    schemas::build_id previous_build_id;

    static constexpr integers style = integers::as_numbers;
    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(id, name, status, components, creator_request, date_created, date_updated);
        field(8, "previous_build_id", self.previous_build_id, shown::when_set);
    }
};
endpoint_stage of(schemas::endpoint_stage);

struct endpoint_stages {
    std::vector<endpoint_stage> stages;
    std::uint64_t total_records = 0;

    static constexpr integers style = integers::as_numbers;
    HERALD_DESCRIBE(stages, total_records);
};

}  // namespace herald::schemas::answers
