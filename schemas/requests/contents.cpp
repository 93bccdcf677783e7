// Turns what a caller sent into what commands carry.
#include "schemas/requests/models.hpp"
#include "schemas/requests/versions.hpp"

namespace herald::schemas::requests {
namespace {

schemas::artifact content_of(artifact sent) {
    schemas::artifact content;
    content.key = std::move(sent.key);
    content.path = std::move(sent.path);
    content.path_only = sent.path_only;
    content.artifact_type = sent.artifact_type;
    content.filename_extension = std::move(sent.filename_extension);
    content.serialization = std::move(sent.serialization);
    content.artifact_subtype = std::move(sent.artifact_subtype);
    content.linked_artifact_id = std::move(sent.linked_artifact_id);
    return content;
}

std::vector<schemas::artifact> contents_of(std::vector<artifact> sent) {
    std::vector<schemas::artifact> contents;
    contents.reserve(sent.size());
    for (artifact& each : sent) contents.push_back(content_of(std::move(each)));
    return contents;
}

commands::version_content content_of(version_members sent) {
    commands::version_content content;
    content.version = std::move(sent.version);
    content.description = std::move(sent.description);
    content.labels = std::move(sent.labels);
    content.readme_text = std::move(sent.readme_text);
    content.attributes = std::move(sent.attributes);
    if (sent.model) content.model = content_of(*std::move(sent.model));
    content.artifacts = contents_of(std::move(sent.artifacts));
    content.environment = std::move(sent.environment);
    content.docker_metadata = std::move(sent.docker_metadata);
    content.datasets = contents_of(std::move(sent.datasets));
    content.code_blob_map = std::move(sent.code_blob_map);
    content.archived = sent.archived == ternary::true_;
    content.apis = std::move(sent.apis);
    content.input_description = std::move(sent.input_description);
    content.output_description = std::move(sent.output_description);
    content.hide_input_label = sent.hide_input_label;
    content.hide_output_label = sent.hide_output_label;
    return content;
}

}  // namespace

commands::model_content content_of(model_members sent) {
    commands::model_content content;
    content.name = std::move(sent.name);
    content.description = std::move(sent.description);
    content.labels = std::move(sent.labels);
    content.attributes = std::move(sent.attributes);
    content.readme_text = std::move(sent.readme_text);
    if (sent.visibility) content.visibility.text = "\"" + std::string(name_of(*sent.visibility)) + "\"";
    content.resource_visibility = sent.resource_visibility;
    if (sent.custom_permission)
        content.custom_permission.text = to_json_object(*sent.custom_permission, integers::as_strings);
    content.data_type = sent.data_type;
    content.task_type = sent.task_type;
    content.pii = sent.pii;
    return content;
}

commands::version_content content_of(create_version sent) {
    commands::version_content content = content_of(std::move(sent.common));
    content.lock_level = sent.lock_level;
    content.experiment_run_id = std::move(sent.experiment_run_id);
    return content;
}

commands::version_content content_of(update_version sent) {
    commands::version_content content = content_of(std::move(sent.common));
    content.time_updated = sent.time_updated;
    content.redirect_metadata = std::move(sent.redirect_metadata);
    return content;
}

}  // namespace herald::schemas::requests
