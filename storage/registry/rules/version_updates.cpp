// Updates of model versions, and the completion of a promotion (wire.md §3).
#include "storage/registry/rules/version_updates.hpp"

#include <algorithm>
#include <set>

#include "runtime/crypto.hpp"
#include "schemas/json.hpp"
#include "storage/registry/access/locks.hpp"
#include "storage/registry/rules/merging.hpp"
#include "storage/registry/rules/stage_changes.hpp"
#include "storage/registry/rules/unchanged.hpp"
#include "storage/registry/rules/version_content.hpp"
#include "storage/registry/tables/stages.hpp"

namespace herald::storage::registry::rules {
namespace {

using context::rule_context;
using schemas::action;
using schemas::model_version;
using schemas::promotion;
using schemas::promotion_status;
using schemas::protected_type;
using schemas::version_content;
using schemas::commands::update_mode;

access::touched touched_by(const model_version& before, const model_version& after) {
    return same_ingredients(before, after) ? access::touched::nothing_locked : access::touched::ingredients;
}

/// PATCH, and PATCH …/full_body.
model_version merged(const model_version& before, const schemas::commands::update_version& command) {
    model_version after = before;
    merge_content<version_content>(after, command.version, command.present, command.mode);
    return after;
}

/// The object with the members of `changes` added, or in place of its own.
schemas::json_text merged_members(const schemas::json_text& old, const schemas::json_text& changes) {
    if (changes.text.empty()) return old;
    auto merged = schemas::parse_json(old.text.empty() ? "{}" : old.text);
    const auto sent = schemas::parse_json(changes.text);
    const auto* added = sent ? sent->get_if<schemas::json_object>() : nullptr;
    auto* members = merged ? merged->get_if<schemas::json_object>() : nullptr;
    if (!added || !members) return changes;
    merge_by_key(*members, *added, &schemas::json_member::first);
    return {schemas::to_json_text(*merged)};
}

/// PUT: replaces the whole record, except what the server owns. A body without a name keeps the old one.
model_version replaced(const model_version& before, const version_content& sent) {
    model_version after = with_content(before, sent);
    if (after.version.empty()) after.version = before.version;
    return after;
}

/// Identifies the request that completed a promotion, so that a repeat is recognised: as a PUT of a few
/// members it would otherwise clear everything it does not carry. Only what the body says of a version
/// counts, not how the version was named, nor the order of the members.
std::string completion_of(const schemas::commands::update_version& command) {
    schemas::commands::update_version said;
    said.version = command.version;
    said.time_updated = command.time_updated;
    said.redirect_metadata = command.redirect_metadata;
    const std::set<std::string_view> present(command.present.begin(), command.present.end());
    const auto add = [&](unsigned, std::string_view name, const auto&, auto...) {
        if (present.contains(name)) said.present.emplace_back(name);
    };
    version_content::describe(command.version, add);
    return std::string(runtime::as_bytes(runtime::sha256(schemas::encode(said))));
}

/// What was read before the commit must not complete its promotion: it may be meant for an earlier one. A
/// body without a time does not say what was read.
result<void> check_read_since(const promotion& begun, const schemas::commands::update_version& command) {
    const std::int64_t read_ms = command.time_updated;
    if (read_ms == 0 || read_ms >= begun.time_committed) return {};
    return runtime::aborted({"time_updated is ", read_ms,
                             ", earlier than the commit of the promotion of model version ",
                             begun.model_version_id.value, " that is IN_PROGRESS: ", begun.time_committed,
                             "; read the version again, this was meant for an earlier promotion"});
}

/// Errors: aborted when the body was read before the commit.
answer complete(rule_context& context, const model_version& before, const promotion& begun,
                const schemas::commands::update_version& command) {
    if (const auto since = check_read_since(begun, command); !since) return since.error();
    model_version after = before;
    after.redirect_metadata = command.redirect_metadata;
    promotion promotion = begun;
    promotion.status = promotion_status::complete;
    promotion.redirect_metadata = after.redirect_metadata;
    promotion.completion = completion_of(command);
    promotion.time_completed = context.stamp_ms();
    tables::promotions::update(context.state, begun, promotion);
    cancel_deadline(context, begun);
    return store_version(context, before, std::move(after));
}

enum class code_of_update : bool { is_set, merges };
/// What the update makes of the version.
model_version updated(const model_version& before, const schemas::commands::update_version& command,
                      code_of_update code) {
    model_version after = without_empty_parts(
        command.mode == update_mode::replace ? replaced(before, command.version) : merged(before, command));
    if (code == code_of_update::merges)
        after.code_blob_map = merged_members(before.code_blob_map, after.code_blob_map);
    after.labels = sorted_labels(std::move(after.labels));
    keep_what_is_unchanged(after, before);
    return after;
}

/// Whether the update sends more of a list than a version may have. That is another list than the stored one,
/// and too long to be merged and compared with it.
bool sends_too_many(const version_content& sent) {
    return sent.attributes.size() > limits::attributes_max || sent.artifacts.size() > limits::artifacts_max ||
           sent.datasets.size() > limits::artifacts_max;
}

/// What a redirect_metadata in an update is about.
struct redirection {
    promotion newest;
    bool completes = false;
    bool repeats = false;  // a completion
};

redirection redirection_of(const rule_context& context, const model_version& version,
                           const schemas::commands::update_version& command) {
    redirection found;
    const std::string& redirect = command.redirect_metadata;
    if (redirect.empty()) return found;
    found.newest = tables::promotions::find(context.state, version.id).value_or(promotion{});
    found.completes = found.newest.status == promotion_status::in_progress;
    found.repeats = found.newest.status == promotion_status::complete &&
                    found.newest.redirect_metadata == redirect &&
                    found.newest.completion == completion_of(command);
    return found;
}

/// Errors: failed_precondition for a URL that neither completes a promotion nor is the one that did.
result<void> check_redirect(const redirection& about, const model_version& version,
                            const std::string& redirect) {
    if (redirect.empty()) return {};
    if (const auto good = check_url("redirect_metadata", redirect); !good) return good;
    if (const auto good = check_host("redirect_metadata", redirect); !good) return good;
    if (about.completes ||
        (about.newest.status == promotion_status::complete && about.newest.redirect_metadata == redirect))
        return {};
    return runtime::failed_precondition(
        {"redirect_metadata completes a promotion, and none of model version ", version.id.value,
         " is IN_PROGRESS (it is ", name_of(about.newest.status), ")"});
}

/// The order of refusals is that of wire.md "Lock levels".
answer update(rule_context& context, const schemas::commands::update_version& command,
              code_of_update code = code_of_update::is_set) {
    const auto found = version_of(context, command);
    if (!found) return found.error();
    const model_version& before = found->row;
    const redirection about = redirection_of(context, before, command);
    // What completes a promotion changes nothing else.
    const bool is_completion = about.completes || about.repeats;
    model_version after = before;
    if (!is_completion)
        after = sends_too_many(command.version) ? replaced(before, command.version)
                                                : updated(before, command, code);
    if (const auto open =
            access::require_unlocked(context.state, context.principal(), *found, touched_by(before, after));
        !open)
        return open.error();
    if (const auto meant = check_is_meant(context, command, before); !meant) return meant.error();
    if (const auto good = check_redirect(about, before, command.redirect_metadata); !good)
        return good.error();
    if (about.completes) return complete(context, before, about.newest, command);
    if (about.repeats) return schemas::encode(before);
    if (const auto good = check_parts(command.version); !good) return good.error();
    if (const auto good = check_words(command.version); !good) return good.error();
    if (const auto good = check_texts(after); !good) return good.error();
    if (const auto good = check_parts(after); !good) return good.error();
    if (const auto good = check_artifact_keys(before, after); !good) return good.error();
    if (after.version != before.version && !has_free_name(context.state, after)) return name_taken(after);
    return store_version(context, before, std::move(after));
}

}  // namespace

/// Errors: not_found; permission_denied (also by lock); invalid_argument; already_exists for a new name;
/// failed_precondition for a redirect_metadata without a promotion in progress, and for a path that matches
/// two versions; aborted for one that was read before the promotion began.
answer apply(rule_context& context, const schemas::commands::update_version& command) {
    return update(context, command);
}

/// Errors: as of update_version.
answer apply(rule_context& context, const schemas::commands::update_version_members& command) {
    schemas::commands::update_version asked = command.update;
    asked.mode = update_mode::members;
    return update(context, asked);
}

/// Errors: as of update_version.
answer apply(rule_context& context, const schemas::commands::log_version_parts& command) {
    schemas::commands::update_version asked = command.update;
    asked.mode = update_mode::merge;
    const bool has_code = std::ranges::count(asked.present, "code_blob_map") > 0;
    return update(context, asked, has_code ? code_of_update::merges : code_of_update::is_set);
}

}  // namespace herald::storage::registry::rules
