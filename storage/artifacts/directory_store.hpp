// The store of artifacts in a folder of a file system, local or shared.
#pragma once

#include <filesystem>
#include <memory>

#include "runtime/error.hpp"
#include "runtime/event_loop.hpp"
#include "runtime/random.hpp"
#include "storage/artifacts/store.hpp"

namespace herald::storage::artifacts {

/// The space that must stay free on the disk of `folder`, which may be the store's disk, too: an upload that
/// would take it ends with unavailable.
struct kept_free {
    std::filesystem::path folder;
    std::uint64_t bytes = 0;
};

/// Two, so that no upload's sync holds up a download.
struct store_pools {
    runtime::blocking_pool& reading;
    runtime::blocking_pool& writing;
};

/// Files:
///
///     objects/ab/abcd…-0123…      an object; appears there by a rename, whole and synced
///     owner                       whose bytes these are
///     temporary/<process>/<n>     what is being uploaded
///     temporary/<process>.lock    locked while that process runs: the files of the others are removed here
///
/// Several processes may share the folder, if locks of files (flock) work between their machines. The pools'
/// threads wait for the disk; pools and random source must outlive the store. Errors: internal when the
/// folder cannot be made or written.
result<std::unique_ptr<artifact_store>> open_directory_store(const std::filesystem::path& folder,
                                                             const store_pools&, runtime::random_source&,
                                                             const kept_free& = {});

}  // namespace herald::storage::artifacts
