// Which bytes a version's artifact has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schemas/artifacts.hpp"
#include "schemas/deployment.hpp"
#include "schemas/registry.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::find {

/// The bytes of the version's artifact: its parts, in order. Errors: not_found before any were uploaded.
result<std::vector<schemas::blob>> bytes_of_artifact(const state::state_view&, const schemas::model_version&,
                                                     std::string_view key);
/// The ETag of bytes that consist of these parts, without quotes.
std::string etag_of(const std::vector<schemas::blob_part>&);
/// The ETag of the artifact's bytes as they are; empty when there are none.
std::string etag_of_artifact(const state::state_view&, const schemas::model_version&, std::string_view key);
/// The ETag of a part of the unfinished upload; empty when there is none.
std::string etag_of_part(const state::state_view&, const schemas::model_version&, std::string_view key,
                         std::uint32_t number);
/// The bytes of the model that Herald made the build of: those that it had then, in order. Errors:
/// invalid_argument for a build that was not made so.
result<std::vector<schemas::blob>> model_of_build(const state::state_view&, const schemas::build&);
/// The parts of the artifact's unfinished upload that are committed.
std::vector<schemas::uploaded_part> committed_parts(const state::state_view&, const schemas::model_version&,
                                                    std::string_view key);

/// The log's id as text; empty before GENESIS.
std::string log_id_of(const state::state_view&);
/// The log and its generation, for signed URLs: they are good only where they were made. Empty before
/// GENESIS.
std::string log_of_urls(const state::state_view&);

}  // namespace herald::storage::registry::find
