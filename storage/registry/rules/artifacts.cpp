// The bytes of artifacts: which there are, whose they are, and when they are dropped (design.md §5, wire.md
// "Artifact URLs").
#include "storage/registry/rules/artifacts.hpp"

#include <algorithm>
#include <utility>

#include "runtime/crypto.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/artifacts.hpp"
#include "storage/registry/find/artifacts.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/rules/unfinished_uploads.hpp"
#include "storage/registry/rules/version_content.hpp"
#include "storage/registry/tables/artifacts.hpp"
#include "storage/registry/tables/nodes.hpp"
#include "storage/registry/tables/versions.hpp"

namespace herald::storage::registry::rules {
namespace {

using access::find_artifact;
using access::placed;
using schemas::artifact_bytes;
using schemas::blob;
using schemas::blob_part;
using schemas::model_version;
using schemas::unfinished_upload;
using schemas::uploaded_part;
using tables::blobs;
using tables::bytes_of_artifacts;
using tables::doomed_objects;
using tables::unfinished_uploads;

constexpr std::size_t digest_bytes = 32;

// ---- references

/// Errors: failed_precondition when these bytes were not stored.
result<blob_part> refer_to(rule_context& context, const std::string& digest) {
    auto known = blobs::find(context.state, digest);
    if (!known)
        return runtime::failed_precondition(
            {"no bytes with the digest ", runtime::to_hex(digest), " are stored; upload them again"});
    ++known->references;
    blobs::put(context.state, *known);
    return blob_part{digest, known->bytes};
}

template <class Table>
bool has_rows(const rule_context& context, schemas::version_id version) {
    bool found = false;
    Table::each_of(context.state, version, [&](const auto&) {
        found = true;
        return false;
    });
    return found;
}

void let_be_unused(rule_context& context, blob& row) {
    row.unused_since_ms = context.time_ms();
    context.set_timer(context.time_ms() + limits::blob_kept_ms, timer_kind::blob_drop, row.digest);
}

void release(rule_context& context, const blob_part& part) {
    // What is referred to has a row and a count. If it had none, letting go of it must not stop every node at
    // this record for ever.
    auto row = blobs::find(context.state, part.digest);
    if (!row || row->references == 0) return;
    if (--row->references == 0) let_be_unused(context, *row);
    blobs::put(context.state, *row);
}

/// Many are put aside, under version 0, for a timer.
void release_all(rule_context& context, std::vector<blob_part> parts) {
    if (parts.size() > limits::parts_released_at_once_max) {
        bytes_of_artifacts::put(context.state,
                                {{}, schemas::big_endian(context.next("released bytes")), std::move(parts)});
        return drop_bytes_of(context, {});
    }
    for (const blob_part& part : parts) release(context, part);
}

/// Releases the last of the parts, as many as `budget` allows; true when none is left.
bool release_within(rule_context& context, std::vector<blob_part>& parts, std::size_t& budget) {
    while (!parts.empty() && budget > 0) {
        release(context, parts.back());
        parts.pop_back();
        --budget;
    }
    return parts.empty();
}

// ---- the version's record

result<void> mark_uploaded(rule_context& context, const model_version& before, std::string_view key) {
    model_version after = before;
    if (after.model && after.model->key == key) {
        after.model->upload_completed = true;
    } else {
        const auto entry = std::find_if(after.artifacts.begin(), after.artifacts.end(),
                                        [&](const schemas::artifact& each) { return each.key == key; });
        entry->upload_completed = true;
    }
    if (const auto stored = store_version(context, before, std::move(after)); !stored) return stored.error();
    return {};
}

/// The artifact's bytes are these, whose references are counted already.
result<void> replace_bytes(rule_context& context, const model_version& version, const std::string& key,
                           std::vector<blob_part> parts) {
    const auto old = bytes_of_artifacts::find(context.state, version.id, key);
    const bool are_new = !old || old->parts != parts;
    bytes_of_artifacts::put(context.state, {version.id, key, std::move(parts)});
    if (old) release_all(context, old->parts);
    if (!find_artifact(version, key)->upload_completed) return mark_uploaded(context, version, key);
    if (are_new) tell_new_bytes(context, version);
    return {};
}

/// Errors: those of version_to_fill; not_found when the entry has another path.
template <class Command>
result<placed<model_version>> version_for_upload(const rule_context& context, const Command& command) {
    auto found =
        access::version_to_fill(context.state, context.principal(), command.model_version_id, command.key);
    if (!found) return found;
    if (const auto same = access::check_path(found->row, command.key, command.path_digest); !same)
        return same.error();
    return found;
}

/// Errors: aborted.
result<void> check_replaced(std::string_view expected, std::string_view there) {
    if (expected == there) return {};
    return runtime::aborted("the bytes were replaced while these came; read them again, then decide");
}

// ---- parts

result<void> check_part_number(std::uint32_t number) {
    if (number >= 1 && number <= limits::artifact_parts_max) return {};
    return runtime::invalid_argument(
        {"part_number is ", number, "; it must be 1 to ", limits::artifact_parts_max});
}

// ---- the collector

result<void> check_holder(const rule_context& context, std::uint64_t token) {
    const auto claim =
        tables::claims::find(context.state, schemas::job_name(schemas::job::artifact_collector));
    if (claim && claim->token == token) return {};
    return runtime::aborted("the job artifact-collector has another holder");
}

result<void> check_count(std::size_t objects) {
    if (objects <= limits::objects_per_command_max) return {};
    return runtime::invalid_argument(
        {"these are ", objects, " objects; at most ", limits::objects_per_command_max, " are taken at once"});
}

}  // namespace

void hold_bytes(rule_context& context, const std::vector<blob_part>& parts) {
    for (const blob_part& part : parts)
        if (!refer_to(context, part.digest)) throw state::state_corrupt{"bytes in use without a row"};
}

void release_bytes(rule_context& context, std::vector<blob_part> parts) {
    release_all(context, std::move(parts));
}

void drop_removed_bytes(rule_context& context, const model_version& before, const model_version& after) {
    const auto is_gone = [&](const schemas::artifact& old) {
        const schemas::artifact* const kept = find_artifact(after, old.key);
        return !kept || kept->path != old.path;  // also an unfinished upload is
    };
    if ((before.model && is_gone(*before.model)) ||
        std::any_of(before.artifacts.begin(), before.artifacts.end(), is_gone))
        drop_bytes_of(context, after.id);
}

void drop_bytes_of(rule_context& context, schemas::version_id version) {
    if (!has_rows<bytes_of_artifacts>(context, version) && !has_rows<unfinished_uploads>(context, version))
        return;
    context.set_timer(context.time_ms(), timer_kind::artifact_sweep, schemas::big_endian(version.value));
}

/// Errors: invalid_argument; aborted for an object that is to be erased.
answer apply(rule_context& context, const schemas::commands::store_blob& command) {
    if (command.digest.size() != digest_bytes)
        return runtime::invalid_argument({"a digest is ", digest_bytes, " bytes"});
    if (const auto good = check_name("object", command.object, limits::object_name_bytes_max); !good)
        return good.error();
    if (doomed_objects::has(context.state, command.object))
        return runtime::aborted({"the object ", command.object, " is to be erased; store the bytes again"});
    blob row{command.digest, command.bytes, command.object, 0, 0};
    // Of two objects the newer one stays: the older may be lost or damaged, and this upload repair it.
    if (auto known = blobs::find(context.state, command.digest)) {
        row = *std::move(known);
        if (row.object != command.object)
            doomed_objects::put(context.state, std::exchange(row.object, command.object));
    }
    if (row.references == 0) let_be_unused(context, row);
    blobs::put(context.state, row);
    return std::string();
}

/// Errors: not_found, also for another path; permission_denied, also by lock; aborted when other bytes are
/// there than the command replaces; failed_precondition when the bytes are not stored; invalid_argument for a
/// record that would become too large.
answer apply(rule_context& context, const schemas::commands::set_artifact_bytes& command) {
    const auto found = version_for_upload(context, command);
    if (!found) return found.error();
    if (command.replaced)
        if (const auto good = check_replaced(*command.replaced,
                                             find::etag_of_artifact(context.state, found->row, command.key));
            !good)
            return good.error();
    const auto part = refer_to(context, command.digest);
    if (!part) return part.error();
    const bool is_second = bytes_of_artifacts::find(context.state, found->row.id, command.key).has_value();
    if (const auto replaced = replace_bytes(context, found->row, command.key, {*part}); !replaced)
        return replaced.error();
    if (is_second) replace_first_part(context, found->row.id, command.key);
    return std::string();
}

/// Errors: as set_artifact_bytes; invalid_argument for a number out of range.
answer apply(rule_context& context, const schemas::commands::put_artifact_part& command) {
    const auto found = version_for_upload(context, command);
    if (!found) return found.error();
    if (const auto good = check_part_number(command.part_number); !good) return good.error();
    if (command.replaced)
        if (const auto good = check_replaced(
                *command.replaced,
                find::etag_of_part(context.state, found->row, command.key, command.part_number));
            !good)
            return good.error();
    const auto part = refer_to(context, command.digest);
    if (!part) return part.error();
    unfinished_upload upload = upload_for(context, found->row, command.key);
    put_part(context, upload, command.part_number, *part);
    unfinished_uploads::put(context.state, upload);
    return std::string();
}

/// Errors: not_found; permission_denied; invalid_argument for a number out of range, and for another ETag;
/// failed_precondition for a part that was not uploaded.
answer apply(rule_context& context, const schemas::commands::commit_artifact_part& command) {
    const auto found =
        access::version_to_fill(context.state, context.principal(), command.model_version_id, command.key);
    if (!found) return found.error();
    if (const auto good = check_part_number(command.part_number); !good) return good.error();
    unfinished_upload upload = upload_for(context, found->row, command.key);
    if (const auto good = commit_part(context, found->row, upload, {command.part_number, command.etag});
        !good)
        return good.error();
    unfinished_uploads::put(context.state, upload);
    return std::string();
}

/// Errors: not_found; permission_denied; failed_precondition when no upload was begun or a part is missing;
/// invalid_argument for other parts than were uploaded, and when the parts are too large together.
answer apply(rule_context& context, const schemas::commands::commit_multipart_artifact& command) {
    const auto found =
        access::version_to_fill(context.state, context.principal(), command.model_version_id, command.key);
    if (!found) return found.error();
    unfinished_upload upload = upload_for(context, found->row, command.key);
    if (upload.parts.empty() && command.parts.empty())
        return runtime::failed_precondition({"no parts of the artifact \"", command.key,
                                             "\" were uploaded; upload and commit each, then the whole"});
    if (!command.parts.empty())
        if (const auto good = commit_named(context, found->row, upload, command.parts); !good)
            return good.error();
    if (const auto good = check_all_committed(upload); !good) return good.error();
    std::uint64_t bytes = 0;
    for (const uploaded_part& each : upload.parts) bytes += each.part.bytes;
    if (bytes > limits::artifact_bytes_max)
        return runtime::invalid_argument({"the parts are ", bytes,
                                          " bytes together; an artifact has at most ",
                                          limits::artifact_bytes_max});
    unfinished_uploads::erase(context.state, upload);
    if (const auto replaced = replace_bytes(context, found->row, command.key, parts_of(upload)); !replaced)
        return replaced.error();
    return std::string();
}

/// Errors: not_found; permission_denied.
answer apply(rule_context& context, const schemas::commands::delete_artifact& command) {
    const auto found =
        access::version_to_fill(context.state, context.principal(), command.model_version_id, command.key);
    if (!found) return found.error();
    model_version after = found->row;
    if (after.model && after.model->key == command.key)
        after.model.reset();
    else
        std::erase_if(after.artifacts,
                      [&](const schemas::artifact& each) { return each.key == command.key; });
    if (const auto stored = store_version(context, found->row, std::move(after)); !stored)
        return stored.error();
    return std::string();
}

/// Errors: aborted when the sender no longer holds the job; invalid_argument for too many.
answer apply(rule_context& context, const schemas::commands::find_stray_objects& command) {
    if (const auto holder = check_holder(context, command.token); !holder) return holder.error();
    if (const auto good = check_count(command.found.size()); !good) return good.error();
    for (const blob& each : command.found) {
        const auto known = blobs::find(context.state, each.digest);
        if (!known || known->object != each.object) doomed_objects::put(context.state, each.object);
    }
    return std::string();
}

/// Errors: as find_stray_objects.
answer apply(rule_context& context, const schemas::commands::forget_erased_objects& command) {
    if (const auto holder = check_holder(context, command.token); !holder) return holder.error();
    if (const auto good = check_count(command.objects.size()); !good) return good.error();
    for (const std::string& object : command.objects) doomed_objects::erase(context.state, object);
    return std::string();
}

/// Releases the version's bytes that no entry of its record has any more; of version 0, all.
void fire_artifact_sweep(rule_context& context, std::string_view key) {
    const schemas::version_id id{schemas::read_big_endian(key)};
    const auto version = id ? tables::versions::find(context.state, id) : std::nullopt;
    std::vector<artifact_bytes> bytes;
    bytes_of_artifacts::each_of(context.state, id, [&](const artifact_bytes& row) {
        const schemas::artifact* const entry = version ? find_artifact(*version, row.key) : nullptr;
        if (!entry || !entry->upload_completed) bytes.push_back(row);
        return bytes.size() < limits::parts_released_by_timer_max;
    });
    std::vector<unfinished_upload> uploads;
    unfinished_uploads::each_of(context.state, id, [&](const unfinished_upload& row) {
        if (!version || !access::check_path(*version, row.key, row.path_digest)) uploads.push_back(row);
        return uploads.size() < limits::parts_released_by_timer_max;
    });
    bool is_done = bytes.size() < limits::parts_released_by_timer_max &&
                   uploads.size() < limits::parts_released_by_timer_max;
    std::size_t budget = limits::parts_released_by_timer_max;
    for (artifact_bytes& row : bytes) {
        if (budget == 0) break;
        if (release_within(context, row.parts, budget))
            bytes_of_artifacts::erase(context.state, row);
        else
            bytes_of_artifacts::put(context.state, row);
    }
    for (const unfinished_upload& row : uploads) {
        const std::size_t cost = std::min(row.parts.size(), limits::parts_released_at_once_max);
        if (budget < cost) break;
        budget -= cost;
        unfinished_uploads::erase(context.state, row);
        release_all(context, parts_of(row));
    }
    is_done = is_done && budget > 0;
    if (!is_done) drop_bytes_of(context, id);
}

/// Drops the bytes that nothing has referred to for limits::blob_kept_ms. Their object is erased by the
/// collector.
void fire_blob_drop(rule_context& context, std::string_view key) {
    const auto row = blobs::find(context.state, std::string(key));
    if (!row || row->references > 0 || row->unused_since_ms + limits::blob_kept_ms > context.time_ms())
        return;
    blobs::erase(context.state, *row);
    doomed_objects::put(context.state, row->object);
}

/// Drops uploads of the version that were begun limits::unfinished_upload_kept_ms ago.
void fire_multipart_expiry(rule_context& context, std::string_view key) {
    std::vector<unfinished_upload> old;
    unfinished_uploads::each_of(
        context.state, schemas::version_id{schemas::read_big_endian(key)}, [&](const unfinished_upload& row) {
            if (row.time_begun_ms + limits::unfinished_upload_kept_ms <= context.time_ms())
                old.push_back(row);
            return old.size() <= limits::parts_released_at_once_max;
        });
    if (old.size() > limits::parts_released_at_once_max) {
        context.set_timer(context.time_ms(), timer_kind::multipart_expiry, key);
        old.pop_back();
    }
    for (const unfinished_upload& row : old) {
        unfinished_uploads::erase(context.state, row);
        release_all(context, parts_of(row));
    }
}

runner runner_of(schemas::commands::command_type type, schemas::commands::artifact_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
