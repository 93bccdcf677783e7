// Who may read and replace the bytes of artifacts (wire.md "Artifact URLs", "Lock levels").
#pragma once

#include <string>
#include <string_view>

#include "storage/registry/access/access.hpp"

namespace herald::storage::registry::access {

/// The entry of this key: the model, or one of the artifacts. Null when there is none.
const schemas::artifact* find_artifact(const schemas::model_version&, std::string_view key);

/// The version, readable by the user, and that it has an entry of this key. not_found otherwise.
result<placed<schemas::model_version>> version_with_artifact(const state::state_view&, schemas::user_id,
                                                             schemas::version_id, std::string_view key);

/// As version_with_artifact, by a user who may replace what the version is made of: permission_denied by the
/// lock, without UPDATE, and under REDACT for all but workspace admins, in this order.
result<placed<schemas::model_version>> version_to_fill(const state::state_view&, schemas::user_id,
                                                       schemas::version_id, std::string_view key);

/// The form of an entry's path in signed URLs, which are for that path only.
std::string digest_of_path(std::string_view path);
/// Errors: not_found when the entry of this key has another path now.
result<void> check_path(const schemas::model_version&, std::string_view key, std::string_view path_digest);

}  // namespace herald::storage::registry::access
