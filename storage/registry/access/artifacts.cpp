#include "storage/registry/access/artifacts.hpp"

#include <algorithm>

#include "runtime/crypto.hpp"
#include "storage/registry/access/locks.hpp"

namespace herald::storage::registry::access {
namespace {

constexpr std::size_t path_digest_bytes = 16;

}  // namespace

const schemas::artifact* find_artifact(const schemas::model_version& version, std::string_view key) {
    if (version.model && version.model->key == key) return &*version.model;
    const auto found = std::find_if(version.artifacts.begin(), version.artifacts.end(),
                                    [&](const schemas::artifact& each) { return each.key == key; });
    return found == version.artifacts.end() ? nullptr : &*found;
}

result<placed<schemas::model_version>> version_with_artifact(const state::state_view& state,
                                                             schemas::user_id user, schemas::version_id id,
                                                             std::string_view key) {
    auto found = readable_version(state, user, id);
    if (found && !find_artifact(found->row, key))
        return runtime::not_found({named(found->row), " has no artifact with the key \"", key,
                                   "\"; add it to the version's record first"});
    return found;
}

result<placed<schemas::model_version>> version_to_fill(const state::state_view& state, schemas::user_id user,
                                                       schemas::version_id id, std::string_view key) {
    auto found = version_with_artifact(state, user, id, key);
    if (!found) return found;
    if (const auto open = require_unlocked(state, user, *found, touched::bytes); !open) return open.error();
    return found;
}

std::string digest_of_path(std::string_view path) {
    return std::string(runtime::as_bytes(runtime::sha256(path)).substr(0, path_digest_bytes));
}

result<void> check_path(const schemas::model_version& version, std::string_view key,
                        std::string_view path_digest) {
    const schemas::artifact* const entry = find_artifact(version, key);
    if (entry && digest_of_path(entry->path) == path_digest) return {};
    return runtime::not_found({"the artifact \"", key, "\" of ", named(version),
                               " has another path than when this URL was made; ask for a new URL"});
}

}  // namespace herald::storage::registry::access
