// The place of snapshots. One implementation is a folder (snapshot_folder.cpp); another place needs no more
// than this interface.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "runtime/error.hpp"

namespace herald::storage::snapshots {

/// Keeps snapshots, each a few files under a name; names sort by age. Whether the files are still what they
/// were, the reader finds out (snapshot_files.hpp). All calls block; any thread. workplace(), keep() and
/// clear() one at a time in a process; other processes may work on the same store.
class snapshot_store {
  public:
    virtual ~snapshot_store() = default;
    /// The newest first. Errors: unavailable.
    virtual result<std::vector<std::string>> names() const = 0;
    /// A folder that does not exist yet, to make the files of a snapshot in; what an earlier process left
    /// there is gone. Errors: unavailable.
    virtual result<std::filesystem::path> workplace() = 0;
    /// Moves the files made in the workplace into the store: all or nothing, also when the machine stops.
    /// Errors: unavailable; aborted when a stop was asked for before the end.
    virtual result<void> keep(const std::string& name, const std::stop_token&) = 0;
    /// Empties the workplace, and removes what keep() has left half done.
    virtual void clear() = 0;
    /// The beginning of one of its files. Errors: not_found; unavailable.
    virtual result<std::string> read(const std::string& name, const std::string& file,
                                     std::size_t bytes_max) const = 0;
    /// Puts the files of a snapshot into `folder`, which must not exist. Errors: not_found; unavailable.
    virtual result<void> fetch(const std::string& name, const std::filesystem::path& folder) const = 0;
    /// Errors: unavailable.
    virtual result<void> drop(const std::string& name) = 0;
};

/// In a folder of this machine, or of a disk that several share. It is made when it is needed. `workplace` is
/// on the disk of the state database, whose unchanging files it shares; where the folder is on another, a
/// snapshot is copied there. Two processes that share the folder have workplaces of their own.
std::unique_ptr<snapshot_store> make_snapshot_folder(const std::filesystem::path& folder,
                                                     const std::filesystem::path& workplace);

}  // namespace herald::storage::snapshots
