// Model versions: creating, updating, and the completion of a promotion (wire.md §3).
#include <algorithm>
#include <set>

#include "runtime/crypto.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/emission/resource_events.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/rules/unchanged.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/registry/tables/stages.hpp"
#include "storage/registry/tables/versions.hpp"

namespace herald::storage::registry::rules {
namespace {

using access::readable_model;
using access::require;
using context::rule_context;
using schemas::action;
using schemas::model_version;
using schemas::promotion;
using schemas::promotion_status;
using schemas::protected_type;
using schemas::registered_model;
using schemas::commands::version_content;
using state::state_changes;

result<void> check_artifacts(std::string_view field, const std::vector<schemas::artifact>& artifacts) {
    if (artifacts.size() > limits::artifacts_max)
        return runtime::invalid_argument(std::string(field) + " holds " + std::to_string(artifacts.size()) +
                                         " artifacts; at most " + std::to_string(limits::artifacts_max) +
                                         " are allowed");
    for (const schemas::artifact& artifact : artifacts)
        if (const auto good = check_name("an artifact's key", artifact.key, limits::name_bytes_max); !good)
            return good;
    return {};
}

/// What a version is made of, or will be. A client's input is checked before it is merged: the cost of a
/// merge grows with the product of two lists.
template <class Version>
result<void> check_parts(const Version& version) {
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
    return runtime::already_exists("a version named \"" + version.version +
                                   "\" already exists in registered model " +
                                   std::to_string(version.registered_model_id.value));
}

result<access::placed<schemas::registered_model>> model_of(const rule_context& context,
                                                           const schemas::commands::create_version& command) {
    if (command.registered_model_id)
        return readable_model(context.state, context.principal(), command.registered_model_id);
    return readable_model(context.state, context.principal(), command.workspace_name, command.model_name);
}

/// Resolves the long path. A number may be the id of one version and the name of another: then neither is
/// changed.
result<access::placed<model_version>> version_of_long_form(const rule_context& context,
                                                           const schemas::commands::update_version& command) {
    const auto model =
        readable_model(context.state, context.principal(), command.workspace_name, command.model_name);
    if (!model) return model.error();
    auto found =
        access::readable_version(context.state, context.principal(), model->row, command.version_or_name);
    if (!found) return found;
    const auto named = tables::versions::named(context.state, model->row.id, command.version_or_name);
    if (named && *named != found->row.id)
        return runtime::failed_precondition(
            "\"" + command.version_or_name + "\" is the id of the version \"" + found->row.version +
            "\" and the name of the version with the id " + std::to_string(named->value) +
            "; use the path /api/v1/registry/registered_models/" + std::to_string(model->row.id.value) +
            "/model_versions/<id>");
    return found;
}

result<access::placed<model_version>> version_of(const rule_context& context,
                                                 const schemas::commands::update_version& command) {
    if (!command.id) return version_of_long_form(context, command);
    if (!command.registered_model_id)
        return access::readable_version(context.state, context.principal(), command.id);
    return access::readable_version(context.state, context.principal(), command.registered_model_id,
                                    command.id);
}

/// Members that are present but say nothing count as absent: a model without a key, a map without entries.
model_version without_empty_parts(model_version version) {
    if (version.model && version.model->key.empty()) version.model.reset();
    if (version.code_blob_map.text == "{}") version.code_blob_map.text.clear();
    return version;
}

/// The parts of a version that lock levels protect (wire.md "Lock levels").
bool same_ingredients(const model_version& a, const model_version& b) {
    return a.model == b.model && a.artifacts == b.artifacts && a.datasets == b.datasets &&
           a.attributes == b.attributes && a.environment == b.environment &&
           a.docker_metadata == b.docker_metadata && a.code_blob_map == b.code_blob_map;
}

result<void> check_lock(const rule_context& context, const schemas::workspace& workspace,
                        const model_version& before, const model_version& after) {
    if (before.lock_level == schemas::lock_level::open || same_ingredients(before, after)) return {};
    if (before.lock_level == schemas::lock_level::closed)
        return runtime::permission_denied(
            "model version " + std::to_string(before.id.value) +
            " is CLOSED: its attributes, artifacts, environment, datasets and code are locked for changes");
    if (before.lock_level == schemas::lock_level::redact &&
        !access::is_workspace_admin(context.state, context.principal(), workspace))
        return runtime::permission_denied("model version " + std::to_string(before.id.value) +
                                          " is REDACT: only a workspace admin may change what it is made of");
    return {};
}

void merge_artifacts(std::vector<schemas::artifact>& into, const std::vector<schemas::artifact>& changes) {
    for (const schemas::artifact& change : changes) {
        const auto same_key =
            std::find_if(into.begin(), into.end(), [&](const auto& old) { return old.key == change.key; });
        if (same_key != into.end())
            *same_key = change;
        else
            into.push_back(change);
    }
}

/// PATCH: labels are added; attributes, artifacts and datasets merge by key; everything else that is present
/// is set.
model_version merged(const model_version& before, const schemas::commands::update_version& command) {
    model_version after = before;
    const version_content& sent = command.version;
    const std::set<std::string_view> members(command.present.begin(), command.present.end());
    for (const std::string_view member : members) {
        if (member == "version")
            after.version = sent.version;
        else if (member == "description")
            after.description = sent.description;
        else if (member == "readme_text")
            after.readme_text = sent.readme_text;
        else if (member == "labels")
            after.labels.insert(after.labels.end(), sent.labels.begin(), sent.labels.end());
        else if (member == "attributes")
            after.attributes = merged_attributes(before.attributes, sent.attributes);
        else if (member == "model")
            after.model = sent.model;
        else if (member == "artifacts")
            merge_artifacts(after.artifacts, sent.artifacts);
        else if (member == "environment")
            after.environment = sent.environment;
        else if (member == "docker_metadata")
            after.docker_metadata = sent.docker_metadata;
        else if (member == "datasets")
            merge_artifacts(after.datasets, sent.datasets);
        else if (member == "code_blob_map")
            after.code_blob_map = sent.code_blob_map;
        else if (member == "archived")
            after.archived = sent.archived;
        else if (member == "apis")
            after.apis = sent.apis;
        else if (member == "input_description")
            after.input_description = sent.input_description;
        else if (member == "output_description")
            after.output_description = sent.output_description;
        else if (member == "hide_input_label")
            after.hide_input_label = sent.hide_input_label;
        else if (member == "hide_output_label")
            after.hide_output_label = sent.hide_output_label;
    }
    return after;
}

/// The row with its content replaced by what was sent.
model_version with_content(model_version row, const version_content& sent) {
    row.version = sent.version;
    row.description = sent.description;
    row.labels = sent.labels;
    row.readme_text = sent.readme_text;
    row.attributes = merged_attributes({}, sent.attributes);
    row.model = sent.model;
    row.artifacts = sent.artifacts;
    row.environment = sent.environment;
    row.docker_metadata = sent.docker_metadata;
    row.datasets = sent.datasets;
    row.code_blob_map = sent.code_blob_map;
    row.archived = sent.archived;
    row.apis = sent.apis;
    row.input_description = sent.input_description;
    row.output_description = sent.output_description;
    row.hide_input_label = sent.hide_input_label;
    row.hide_output_label = sent.hide_output_label;
    return row;
}

/// PUT: replaces the whole record, except what the server owns. A body without a name keeps the old one.
model_version replaced(const model_version& before, const version_content& sent) {
    model_version after = with_content(before, sent);
    if (after.version.empty()) after.version = before.version;
    return after;
}

/// Identifies the request that completed a promotion, so that a repeat is recognised: as a PUT of a few
/// members it would otherwise clear everything it does not carry.
std::string completion_of(const schemas::commands::update_version& command) {
    return std::string(runtime::as_bytes(runtime::sha256(schemas::encode(command))));
}

answer store(rule_context& context, const model_version& before, model_version after) {
    std::string encoded = schemas::encode(after);
    if (encoded == schemas::encode(before)) return encoded;
    after.time_updated = context.stamp_ms();
    encoded = schemas::encode(after);
    if (const auto good = check_entity_size("the model version", after, encoded); !good) return good.error();
    tables::versions::update(context.state, before, after);
    emission::emit_updated(context, schemas::resource_type::registered_model_version, after.id.value,
                           after.workspace_id, before, after);
    return encoded;
}

/// What was read before the commit must not complete its promotion: it may be meant for an earlier one. A
/// body without a time does not say what was read.
result<void> check_read_since(const promotion& begun, const schemas::commands::update_version& command) {
    const std::int64_t read_ms = command.version.time_updated;
    if (read_ms == 0 || read_ms >= begun.time_committed) return {};
    return runtime::aborted("time_updated is " + std::to_string(read_ms) +
                            ", earlier than the commit of the promotion of model version " +
                            std::to_string(begun.model_version_id.value) +
                            " that is IN_PROGRESS: " + std::to_string(begun.time_committed) +
                            "; read the version again, this was meant for an earlier promotion");
}

/// Errors: aborted when the body was read before the commit.
answer complete(rule_context& context, const model_version& before, const promotion& begun,
                const schemas::commands::update_version& command) {
    if (const auto since = check_read_since(begun, command); !since) return since.error();
    model_version after = before;
    after.redirect_metadata = command.version.redirect_metadata;
    promotion promotion = begun;
    promotion.status = promotion_status::complete;
    promotion.redirect_metadata = after.redirect_metadata;
    promotion.completion = completion_of(command);
    promotion.time_completed = context.stamp_ms();
    tables::promotions::update(context.state, begun, promotion);
    return store(context, before, std::move(after));
}

}  // namespace

/// Errors: not_found for the model or an experiment run; permission_denied; invalid_argument; already_exists.
answer apply(rule_context& context, const schemas::commands::create_version& command) {
    state_changes& state = context.state;
    const auto parent = model_of(context, command);
    if (!parent) return parent.error();
    if (const auto may = require(state, context.principal(), parent->workspace,
                                 protected_type::registered_model, action::create, "registered model");
        !may)
        return may.error();
    if (const auto good = check_parts(command.version); !good) return good.error();
    model_version version = without_empty_parts(with_content({}, command.version));
    version.registered_model_id = parent->row.id;
    version.lock_level = command.version.lock_level;
    if (const auto good = check_texts(version); !good) return good.error();
    if (!command.version.experiment_run_id.empty())
        return runtime::not_found("experiment run " + command.version.experiment_run_id + " not found");
    if (!has_free_name(state, version)) return name_taken(version);

    version.id = context.next_id<schemas::version_id>("version");
    version.workspace_id = parent->workspace.id;
    registered_model counted = parent->row;
    version.version_number = ++counted.versions_made;
    version.owner = context.principal();
    version.labels = sorted_labels(std::move(version.labels));
    if (version.lock_level == schemas::lock_level::unknown) version.lock_level = schemas::lock_level::open;
    version.time_created = version.time_updated = context.stamp_ms();
    std::string encoded = schemas::encode(version);
    if (const auto good = check_entity_size("the model version", version, encoded); !good)
        return good.error();

    tables::models::update(state, parent->row, counted);
    tables::versions::put(state, version, encoded);
    emission::emit_created(context, schemas::resource_type::registered_model_version, version.id.value,
                           version.workspace_id, version);
    return encoded;
}

/// Errors: not_found; permission_denied (also by lock); invalid_argument; already_exists for a new name;
/// failed_precondition for a redirect_metadata without a promotion in progress, and for a path that matches
/// two versions; aborted for one that was read before the promotion began.
answer apply(rule_context& context, const schemas::commands::update_version& command) {
    state_changes& state = context.state;
    const auto found = version_of(context, command);
    if (!found) return found.error();
    const model_version& before = found->row;
    if (const auto may = require(state, context.principal(), found->workspace,
                                 protected_type::registered_model, action::update, "model version");
        !may)
        return may.error();

    const std::string& redirect = command.version.redirect_metadata;
    if (!redirect.empty()) {
        if (const auto good = check_url("redirect_metadata", redirect); !good) return good.error();
        const auto row = tables::promotions::find(state, before.id).value_or(promotion{});
        if (row.status == promotion_status::in_progress) return complete(context, before, row, command);
        if (row.status != promotion_status::complete || row.redirect_metadata != redirect)
            return runtime::failed_precondition(
                "redirect_metadata completes a promotion, and none of model version " +
                std::to_string(before.id.value) + " is IN_PROGRESS (it is " +
                std::string(name_of(row.status)) + ")");
        if (row.completion == completion_of(command)) return schemas::encode(before);
    }

    if (const auto good = check_parts(command.version); !good) return good.error();
    model_version after = without_empty_parts(command.mode == schemas::commands::update_mode::merge
                                                  ? merged(before, command)
                                                  : replaced(before, command.version));
    after.labels = sorted_labels(std::move(after.labels));
    keep_what_is_unchanged(after, before);
    if (const auto good = check_texts(after); !good) return good.error();
    if (const auto good = check_parts(after); !good) return good.error();
    if (const auto free = check_lock(context, found->workspace, before, after); !free) return free.error();
    if (after.version != before.version && !has_free_name(state, after)) return name_taken(after);
    return store(context, before, std::move(after));
}

runner runner_of(schemas::commands::command_type type, schemas::commands::version_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
