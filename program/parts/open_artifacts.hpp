// The store of artifacts that the options name.
#pragma once

#include <memory>

#include "program/options/settings.hpp"
#include "storage/artifacts/directory_store.hpp"

namespace herald::program {

/// A folder's, or a bucket's. Errors: those of open_directory_store and open_s3_store.
result<std::unique_ptr<storage::artifacts::artifact_store>> open_artifacts(const settings&,
                                                                           storage::artifacts::store_pools);

inline bool are_in_a_bucket(const settings& chosen) { return !chosen.artifacts_bucket.place.bucket.empty(); }

}  // namespace herald::program
