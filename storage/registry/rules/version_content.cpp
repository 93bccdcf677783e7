#include "storage/registry/rules/version_content.hpp"

#include <set>
#include <utility>

#include "schemas/json.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/emission/resource_events.hpp"
#include "storage/registry/rules/artifacts.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/tables/versions.hpp"

namespace herald::storage::registry::rules {

using context::rule_context;
using schemas::model_version;

namespace {

/// All that an artifact holds beside its key. Its path means nothing to Herald, but people read it. It may be
/// as long as the record.
result<void> check_words_of(const schemas::artifact& artifact) {
    const std::pair<std::string_view, const std::string&> words[] = {
        {"path", artifact.path},
        {"filename_extension", artifact.filename_extension},
        {"serialization", artifact.serialization},
        {"artifact_subtype", artifact.artifact_subtype},
        {"linked_artifact_id", artifact.linked_artifact_id}};
    for (const auto& [field, value] : words)
        if (const auto good = check_optional_name(field, value, limits::entity_bytes_max); !good)
            return runtime::invalid_argument({"the artifact \"", artifact.key, "\": ", good.error().message});
    return {};
}

/// As artifacts, datasets and files are bounded, each with a key.
result<void> check_artifacts(std::string_view field, const std::vector<schemas::artifact>& artifacts) {
    if (artifacts.size() > limits::artifacts_max)
        return runtime::invalid_argument({field, " holds ", artifacts.size(), " artifacts; at most ",
                                          limits::artifacts_max, " are allowed"});
    for (const schemas::artifact& artifact : artifacts)
        if (const auto good = check_name("an artifact's key", artifact.key, limits::name_bytes_max); !good)
            return good;
    return {};
}

/// The names of pieces of code; what is said of each is opaque.
result<void> check_code(const schemas::json_text& code) {
    if (code.text.empty()) return {};
    const auto parsed = schemas::parse_json(code.text);
    const auto* const members = parsed ? parsed->get_if<schemas::json_object>() : nullptr;
    if (!members) return {};  // check_parts() refuses it
    for (const schemas::json_member& each : *members)
        if (const auto good = check_name("a key of code_blob_map", each.first, limits::name_bytes_max); !good)
            return good;
    return {};
}

}  // namespace

result<void> check_parts(const schemas::version_content& version) {
    if (const auto good = check_labels(version.labels); !good) return good;
    if (const auto good = check_attributes(version.attributes); !good) return good;
    if (const auto good = check_artifacts("artifacts", version.artifacts); !good) return good;
    if (const auto good = check_artifacts("datasets", version.datasets); !good) return good;
    if (const auto good = check_object("environment", version.environment); !good) return good;
    if (const auto good = check_object("docker_metadata", version.docker_metadata); !good) return good;
    if (const auto good = check_object("code_blob_map", version.code_blob_map); !good) return good;
    if (!version.model || version.model->key.empty()) return {};
    return check_name("model.key", version.model->key, limits::name_bytes_max);
}

result<void> check_words(const schemas::version_content& sent) {
    if (sent.model)
        if (const auto good = check_words_of(*sent.model); !good) return good;
    for (const auto* list : {&sent.artifacts, &sent.datasets})
        for (const schemas::artifact& each : *list)
            if (const auto good = check_words_of(each); !good) return good;
    for (const std::string& api : sent.apis)
        if (const auto good = check_optional_name("one of apis", api, limits::entity_bytes_max); !good)
            return good;
    return check_code(sent.code_blob_map);
}

result<void> check_texts(const model_version& version) {
    if (const auto good = check_name("version", version.version, limits::name_bytes_max); !good) return good;
    if (const auto good = check_text("description", version.description, limits::description_bytes_max);
        !good)
        return good;
    if (const auto good = check_text("readme_text", version.readme_text, limits::entity_bytes_max); !good)
        return good;
    if (const auto good =
            check_text("input_description", version.input_description, limits::description_bytes_max);
        !good)
        return good;
    if (const auto good =
            check_text("output_description", version.output_description, limits::description_bytes_max);
        !good)
        return good;
    if (name_of(version.lock_level).empty())
        return runtime::invalid_argument("lock_level must be one of OPEN CLOSED REDACT");
    return {};
}

bool has_free_name(const state::state_view& state, const model_version& version) {
    return !tables::versions::named(state, version.registered_model_id, version.version);
}

error name_taken(const model_version& version) {
    return runtime::already_exists({"a version named \"", version.version,
                                    "\" already exists in registered model ",
                                    version.registered_model_id.value});
}

result<void> check_artifact_keys(const model_version& before, const model_version& after) {
    if (after.model == before.model && after.artifacts == before.artifacts) return {};
    std::set<std::string_view> keys;
    if (after.model) keys.insert(after.model->key);
    for (const schemas::artifact& file : after.artifacts) {
        if (file.key == "model")
            return runtime::invalid_argument(
                "artifacts holds the key \"model\"; the model's own file is the member model");
        if (!keys.insert(file.key).second)
            return runtime::invalid_argument(
                {"artifacts holds the key \"", file.key, "\" twice; each key may be there once"});
    }
    return {};
}

result<placed_version> version_of_long_form(const rule_context& context, std::string_view workspace_name,
                                            std::string_view model_name, const std::string& version_or_name) {
    const auto model = access::readable_model(context.state, context.principal(), workspace_name, model_name);
    if (!model) return model.error();
    return access::readable_version(context.state, context.principal(), model->row, version_or_name);
}

result<void> check_is_meant(const rule_context& context, const model_version& version,
                            const std::string& version_or_name) {
    const auto named = tables::versions::named(context.state, version.registered_model_id, version_or_name);
    if (!named || *named == version.id) return {};
    return runtime::failed_precondition({"\"", version_or_name, "\" is the id of the version \"",
                                         version.version, "\" and the name of the version with the id ",
                                         named->value, "; use the path /api/v1/registry/registered_models/",
                                         version.registered_model_id.value, "/model_versions/<id>"});
}

model_version without_empty_parts(model_version version) {
    if (version.model && version.model->key.empty()) version.model.reset();
    if (version.code_blob_map.text == "{}") version.code_blob_map.text.clear();
    if (version.archived != schemas::ternary::true_) version.archived = schemas::ternary::false_;
    return version;
}

model_version with_content(model_version row, const schemas::version_content& sent) {
    static_cast<schemas::version_content&>(row) = sent;
    row.attributes = merged_attributes({}, sent.attributes);
    return row;
}

namespace {

/// Of which an image is made.
bool same_image(const model_version& a, const model_version& b) {
    return a.model == b.model && a.artifacts == b.artifacts && a.environment == b.environment &&
           a.docker_metadata == b.docker_metadata && a.code_blob_map == b.code_blob_map;
}

}  // namespace

bool same_ingredients(const model_version& a, const model_version& b) {
    return same_image(a, b) && a.datasets == b.datasets && a.attributes == b.attributes;
}

void replace_version(rule_context& context, const model_version& before, const model_version& after) {
    tables::versions::update(context.state, before, after);
    drop_removed_bytes(context, before, after);
}

answer store_version(rule_context& context, const model_version& before, model_version after) {
    std::string encoded = schemas::encode(after);
    if (encoded == schemas::encode(before)) return encoded;
    after.time_updated = context.stamp_ms();
    if (!same_ingredients(before, after)) after.time_ingredients_changed = after.time_updated;
    if (!same_image(before, after)) after.time_image_changed = after.time_updated;
    encoded = schemas::encode(after);
    if (const auto good = check_entity_size("the model version", after, encoded); !good) return good.error();
    replace_version(context, before, after);
    emission::emit_updated(context, schemas::resource_type::registered_model_version, after.id.value,
                           after.workspace_id, before, after);
    return encoded;
}

void tell_new_bytes(rule_context& context, const model_version& stored) {
    model_version after = stored;
    after.time_ingredients_changed = after.time_image_changed = context.stamp_ms();
    replace_version(context, stored, after);
}

}  // namespace herald::storage::registry::rules
