// What the rules of versions share: how a version is named, checked and stored (wire.md §3).
#pragma once

#include <string>
#include <string_view>

#include "schemas/commands/versions.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/rules/rules.hpp"

namespace herald::storage::registry::rules {

using placed_version = access::placed<schemas::model_version>;

/// What a version is made of, or will be; also what a client sent by itself: it may hold more than is merged.
result<void> check_parts(const schemas::version_content&);

/// What a client sent, once more: paths, names of code and other words that people read. A row's have passed.
result<void> check_words(const schemas::version_content& sent);

/// The version's texts and its lock level.
result<void> check_texts(const schemas::model_version&);
/// The model's own file has the key `model`, in its own member: another by that name could not be asked for.
/// Files that were there before stay, whatever their keys.
result<void> check_artifact_keys(const schemas::model_version& before, const schemas::model_version& after);

bool has_free_name(const state::state_view&, const schemas::model_version&);
/// already_exists.
error name_taken(const schemas::model_version&);

/// Resolves the long path. Errors: not_found.
result<placed_version> version_of_long_form(const context::rule_context&, std::string_view workspace_name,
                                            std::string_view model_name, const std::string& version_or_name);
/// Of a version that was resolved so. A number may be the id of one version and the name of another: then
/// neither is changed. Errors: failed_precondition.
result<void> check_is_meant(const context::rule_context&, const schemas::model_version&,
                            const std::string& version_or_name);

/// Of a command that names a version as update_version does.
template <class Command>
result<void> check_is_meant(const context::rule_context& context, const Command& command,
                            const schemas::model_version& version) {
    if (command.id) return {};
    return check_is_meant(context, version, command.version_or_name);
}
template <class Command>
result<placed_version> version_of(const context::rule_context& context, const Command& command) {
    if (!command.id)
        return version_of_long_form(context, command.workspace_name, command.model_name,
                                    command.version_or_name);
    if (!command.registered_model_id)
        return access::readable_version(context.state, context.principal(), command.id);
    return access::readable_version(context.state, context.principal(), command.registered_model_id,
                                    command.id);
}

/// Members that are present but say nothing count as absent: a model without a key, a map without entries.
schemas::model_version without_empty_parts(schemas::model_version);
/// The row with its content replaced by what was sent.
schemas::model_version with_content(schemas::model_version row, const schemas::version_content&);

/// The parts of a version that lock levels protect (wire.md "Lock levels").
bool same_ingredients(const schemas::model_version&, const schemas::model_version&);

/// Writes the row over `before`, which is as stored. The one place where a version's row changes: where
/// `after` has not all of `before`'s files, by key and path, what belongs to those is dropped here.
void replace_version(context::rule_context&, const schemas::model_version& before,
                     const schemas::model_version& after);
/// The same with a new time_updated, with the times of what has changed of it, and with the UPDATE event, if
/// the row has changed. Errors: invalid_argument for its size.
answer store_version(context::rule_context&, const schemas::model_version& before,
                     schemas::model_version after);
/// A file of the version has other bytes than before, and its row is else as it was.
void tell_new_bytes(context::rule_context&, const schemas::model_version& stored);

}  // namespace herald::storage::registry::rules
