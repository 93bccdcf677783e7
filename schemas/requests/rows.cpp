// From what a caller sent to the rows that commands carry.
#include "schemas/requests/models.hpp"
#include "schemas/requests/versions.hpp"

namespace herald::schemas::requests {
namespace {

schemas::artifact row_of(artifact sent) {
    schemas::artifact row;
    row.key = std::move(sent.key);
    row.path = std::move(sent.path);
    row.path_only = sent.path_only;
    row.artifact_type = sent.artifact_type;
    row.filename_extension = std::move(sent.filename_extension);
    row.serialization = std::move(sent.serialization);
    row.artifact_subtype = std::move(sent.artifact_subtype);
    row.linked_artifact_id = std::move(sent.linked_artifact_id);
    return row;
}

std::vector<schemas::artifact> rows_of(std::vector<artifact> sent) {
    std::vector<schemas::artifact> rows;
    rows.reserve(sent.size());
    for (artifact& each : sent) rows.push_back(row_of(std::move(each)));
    return rows;
}

template <class Sent>
model_version common_members(Sent& sent) {
    model_version row;
    row.version = std::move(sent.version);
    row.description = std::move(sent.description);
    row.labels = std::move(sent.labels);
    row.readme_text = std::move(sent.readme_text);
    row.attributes = std::move(sent.attributes);
    if (sent.model) row.model = row_of(*std::move(sent.model));
    row.artifacts = rows_of(std::move(sent.artifacts));
    row.environment = std::move(sent.environment);
    row.docker_metadata = std::move(sent.docker_metadata);
    row.datasets = rows_of(std::move(sent.datasets));
    row.code_blob_map = std::move(sent.code_blob_map);
    row.archived = sent.archived == ternary::true_;
    row.apis = std::move(sent.apis);
    row.input_description = std::move(sent.input_description);
    row.output_description = std::move(sent.output_description);
    row.hide_input_label = sent.hide_input_label;
    row.hide_output_label = sent.hide_output_label;
    return row;
}

}  // namespace

registered_model row_of(create_model sent) {
    registered_model row;
    row.name = std::move(sent.name);
    row.description = std::move(sent.description);
    row.labels = std::move(sent.labels);
    row.attributes = std::move(sent.attributes);
    row.readme_text = std::move(sent.readme_text);
    if (sent.visibility) row.visibility.text = "\"" + std::string(name_of(*sent.visibility)) + "\"";
    row.resource_visibility = sent.resource_visibility;
    if (sent.custom_permission)
        row.custom_permission.text = to_json_object(*sent.custom_permission, integers::as_strings);
    row.data_type = sent.data_type;
    row.task_type = sent.task_type;
    row.pii = sent.pii;
    return row;
}

model_version row_of(create_version sent) {
    model_version row = common_members(sent);
    row.lock_level = sent.lock_level;
    row.experiment_run_id = std::move(sent.experiment_run_id);
    return row;
}

model_version row_of(update_version sent) {
    model_version row = common_members(sent);
    row.time_updated = sent.time_updated;
    row.redirect_metadata = std::move(sent.redirect_metadata);
    return row;
}

}  // namespace herald::schemas::requests
