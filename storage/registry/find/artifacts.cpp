#include "storage/registry/find/artifacts.hpp"

#include "runtime/crypto.hpp"
#include "runtime/random.hpp"
#include "storage/registry/access/artifacts.hpp"
#include "storage/registry/tables/artifacts.hpp"
#include "storage/registry/tables/installation.hpp"

namespace herald::storage::registry::find {
namespace {

result<std::vector<schemas::blob>> blobs_of(const state::state_view& state,
                                            const std::vector<schemas::blob_part>& parts) {
    std::vector<schemas::blob> found;
    for (const schemas::blob_part& part : parts) {
        auto row = tables::blobs::find(state, part.digest);
        if (!row)
            return runtime::internal("the bytes of this artifact are not known any more; upload them again");
        found.push_back(*std::move(row));
    }
    return found;
}

}  // namespace

result<std::vector<schemas::blob>> bytes_of_artifact(const state::state_view& state,
                                                     const schemas::model_version& version,
                                                     std::string_view key) {
    const schemas::artifact* const entry = access::find_artifact(version, key);
    const auto stored = tables::bytes_of_artifacts::find(state, version.id, key);
    if (!entry || !entry->upload_completed || !stored)
        return runtime::not_found({"the artifact \"", key, "\" of model version ", version.id.value,
                                   " has no bytes yet; upload them first"});
    return blobs_of(state, stored->parts);
}

std::string etag_of(const std::vector<schemas::blob_part>& parts) {
    std::string digests;
    for (const schemas::blob_part& part : parts) digests += part.digest;
    if (parts.size() == 1) return runtime::to_hex(digests);
    return runtime::to_hex(runtime::as_bytes(runtime::sha256(digests))) + "-" + std::to_string(parts.size());
}

std::string etag_of_artifact(const state::state_view& state, const schemas::model_version& version,
                             std::string_view key) {
    const schemas::artifact* const entry = access::find_artifact(version, key);
    const auto stored = tables::bytes_of_artifacts::find(state, version.id, key);
    return entry && entry->upload_completed && stored ? etag_of(stored->parts) : std::string();
}

std::string etag_of_part(const state::state_view& state, const schemas::model_version& version,
                         std::string_view key, std::uint32_t number) {
    const auto upload = tables::unfinished_uploads::find(state, version.id, key);
    if (!upload || !access::check_path(version, key, upload->path_digest)) return {};
    for (const schemas::uploaded_part& each : upload->parts)
        if (each.part_number == number) return etag_of({each.part});
    return {};
}

result<std::vector<schemas::blob>> model_of_build(const state::state_view& state,
                                                  const schemas::build& build) {
    if (!build.model_parts.empty()) return blobs_of(state, build.model_parts);
    return runtime::invalid_argument(
        {"build ", build.id.value, " has no model here: its image was made elsewhere"});
}

std::vector<schemas::uploaded_part> committed_parts(const state::state_view& state,
                                                    const schemas::model_version& version,
                                                    std::string_view key) {
    const auto upload = tables::unfinished_uploads::find(state, version.id, key);
    if (!upload || !access::check_path(version, key, upload->path_digest)) return {};
    std::vector<schemas::uploaded_part> parts = upload->parts;
    std::erase_if(parts, [](const schemas::uploaded_part& each) { return !each.committed; });
    return parts;
}

std::string log_id_of(const state::state_view& state) {
    const auto beginning = tables::installation::find(state);
    return beginning ? runtime::uuid_text(beginning->log_id) : std::string();
}

std::string log_of_urls(const state::state_view& state) {
    const auto beginning = tables::installation::find(state);
    if (!beginning) return {};
    return runtime::uuid_text(beginning->log_id) + " " + std::to_string(beginning->generation);
}

}  // namespace herald::storage::registry::find
