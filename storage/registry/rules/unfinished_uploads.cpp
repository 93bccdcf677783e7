#include "storage/registry/rules/unfinished_uploads.hpp"

#include <algorithm>

#include "runtime/crypto.hpp"
#include "schemas/binary.hpp"
#include "storage/registry/access/artifacts.hpp"
#include "storage/registry/rules/artifacts.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/tables/artifacts.hpp"

namespace herald::storage::registry::rules {
namespace {

using access::find_artifact;
using context::rule_context;
using context::timer_kind;
using schemas::blob_part;
using schemas::model_version;
using schemas::unfinished_upload;
using schemas::uploaded_part;
using tables::bytes_of_artifacts;
using tables::unfinished_uploads;

auto place_of_part(std::vector<uploaded_part>& parts, std::uint32_t number) {
    return std::lower_bound(
        parts.begin(), parts.end(), number,
        [](const uploaded_part& each, std::uint32_t wanted) { return each.part_number < wanted; });
}

uploaded_part* find_part(std::vector<uploaded_part>& parts, std::uint32_t number) {
    const auto place = place_of_part(parts, number);
    return place != parts.end() && place->part_number == number ? &*place : nullptr;
}

/// Part 1 came again, which may be the beginning of another upload. The other parts stay, but whether they
/// belong to this upload only its sender can say, by committing them again.
void ask_for_other_parts(unfinished_upload& upload) {
    for (uploaded_part& each : upload.parts) each.committed = false;
}

std::string etag_of(const blob_part& part) { return runtime::to_hex(part.digest); }

/// Without the quotes of HTTP.
std::string_view bare(std::string_view etag) {
    if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') return etag.substr(1, etag.size() - 2);
    return etag;
}

/// A client may have sent part 1 as if it were all: then it is the artifact's only bytes.
std::optional<blob_part> first_part_sent_alone(const rule_context& context, const model_version& version,
                                               const std::string& key, const part_named& named) {
    if (named.part_number != 1 || !find_artifact(version, key)->upload_completed) return std::nullopt;
    const auto whole = bytes_of_artifacts::find(context.state, version.id, key);
    if (!whole || whole->parts.size() != 1 || etag_of(whole->parts.front()) != bare(named.etag))
        return std::nullopt;
    return whole->parts.front();
}

}  // namespace

std::vector<blob_part> parts_of(const unfinished_upload& upload) {
    std::vector<blob_part> parts;
    parts.reserve(upload.parts.size());
    for (const uploaded_part& each : upload.parts) parts.push_back(each.part);
    return parts;
}

unfinished_upload upload_for(rule_context& context, const model_version& version, const std::string& key) {
    const std::string path_digest = access::digest_of_path(find_artifact(version, key)->path);
    auto known = unfinished_uploads::find(context.state, version.id, key);
    if (known && known->path_digest == path_digest) return *std::move(known);
    if (known) release_bytes(context, parts_of(*known));
    context.set_timer(context.time_ms() + limits::unfinished_upload_kept_ms, timer_kind::multipart_expiry,
                      schemas::big_endian(version.id.value));
    return {version.id, key, path_digest, {}, context.time_ms()};
}

uploaded_part& put_part(rule_context& context, unfinished_upload& upload, std::uint32_t number,
                        const blob_part& part) {
    const auto place = place_of_part(upload.parts, number);
    if (place == upload.parts.end() || place->part_number != number)
        return *upload.parts.insert(place, {number, part, false});
    if (number == 1) ask_for_other_parts(upload);
    release_bytes(context, {place->part});
    *place = {number, part, false};
    return *place;
}

void replace_first_part(rule_context& context, schemas::version_id version, const std::string& key) {
    auto known = unfinished_uploads::find(context.state, version, key);
    if (!known) return;
    ask_for_other_parts(*known);
    if (find_part(known->parts, 1)) {
        release_bytes(context, {known->parts.front().part});
        known->parts.erase(known->parts.begin());
    }
    if (known->parts.empty())
        unfinished_uploads::erase(context.state, *known);
    else
        unfinished_uploads::put(context.state, *known);
}

result<void> commit_part(rule_context& context, const model_version& version, unfinished_upload& upload,
                         const part_named& named) {
    uploaded_part* part = find_part(upload.parts, named.part_number);
    if (!part) {
        const auto alone = first_part_sent_alone(context, version, upload.key, named);
        if (!alone)
            return runtime::failed_precondition({"part ", named.part_number, " of the artifact \"",
                                                 upload.key,
                                                 "\" was not uploaded; upload it, then commit it"});
        hold_bytes(context, {*alone});
        part = &put_part(context, upload, named.part_number, *alone);
    }
    if (etag_of(part->part) != bare(named.etag))
        return runtime::invalid_argument({"etag is ", named.etag, "; part ", named.part_number,
                                          " was uploaded with \"", etag_of(part->part), "\""});
    part->committed = true;
    return {};
}

result<void> commit_named(rule_context& context, const model_version& version, unfinished_upload& upload,
                          const std::vector<part_named>& named) {
    for (std::size_t i = 0; i < named.size(); ++i) {
        if (named[i].part_number != i + 1)
            return runtime::invalid_argument({"artifact_parts has part_number ", named[i].part_number,
                                              " in place ", i + 1,
                                              "; it must name the parts 1, 2, 3 and so on, each once"});
        if (const auto good = commit_part(context, version, upload, named[i]); !good) return good;
    }
    std::vector<blob_part> others;
    for (const uploaded_part& each : upload.parts)
        if (each.part_number > named.size()) others.push_back(each.part);
    upload.parts.resize(named.size());
    release_bytes(context, std::move(others));
    return {};
}

result<void> check_all_committed(const unfinished_upload& upload) {
    const std::string of = " of the artifact \"" + upload.key + "\" is ";
    for (std::size_t i = 0; i < upload.parts.size(); ++i) {
        const std::string part = "part " + std::to_string(i + 1);
        if (upload.parts[i].part_number != i + 1)
            return runtime::failed_precondition({part, of, "missing; upload and commit it, then the whole"});
        if (!upload.parts[i].committed)
            return runtime::failed_precondition(
                {part, of,
                 "not committed; commit it if it belongs to this upload, or name in artifact_parts all parts "
                 "that do"});
    }
    return {};
}

}  // namespace herald::storage::registry::rules
