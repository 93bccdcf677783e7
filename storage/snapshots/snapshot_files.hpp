// A snapshot: the files of a state database, and a list of them with their digests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "schemas/describe.hpp"
#include "storage/rocks/rocks_state.hpp"
#include "storage/snapshots/snapshot_store.hpp"

namespace herald::storage::snapshots {

/// The content of the file LIST of a snapshot; before it stand the 32 bytes of its SHA-256.
struct snapshot_list {
    struct file {
        std::string name;
        std::uint64_t bytes = 0;
        std::string digest;  // SHA-256

        HERALD_DESCRIBE(name, bytes, digest);
    };
    schemas::uuid log_id{};
    std::uint32_t generation = 0;
    std::uint32_t level = 0;        // in force
    std::uint64_t next_offset = 0;  // or a little more, if it was applied meanwhile
    std::int64_t time_ms = 0;       // log time
    std::vector<file> files;

    HERALD_DESCRIBE(log_id, generation, level, next_offset, time_ms, files);
};

/// Takes a snapshot while the state is read and written, keeps it, and drops all but the newest
/// limits::snapshots_kept; returns its name. Blocks as long as the files take to read, but ends soon after a
/// stop is asked for. A failed snapshot leaves nothing. Errors: unavailable; aborted when it was stopped;
/// failed_precondition when nothing is applied yet.
result<std::string> take_snapshot(const rocks::rocks_state&, snapshot_store&, const std::stop_token& = {});

/// Errors: failed_precondition when it is damaged or missing; unavailable.
result<snapshot_list> list_of(const snapshot_store&, const std::string& name);
/// SHA-256 of the list, and so of every file.
std::string digest_of(const snapshot_list&);

/// The list of the newest snapshot of this log; empty when no snapshot has a whole list.
std::optional<snapshot_list> newest_of(const snapshot_store&, const schemas::uuid& log_id,
                                       std::uint32_t generation);

/// Makes `state`, a folder that does not exist, of the newest snapshot of this log that is whole and of a
/// level that this program knows. A snapshot that is not gets a log line, and the one before it is tried.
/// Returns its name; empty when there is none. Errors: unavailable.
result<std::optional<std::string>> load_newest(const snapshot_store&, const schemas::uuid& log_id,
                                               std::uint32_t generation, const std::filesystem::path& state);

/// Drops all, as far as that can be done.
void drop_all(snapshot_store&);

}  // namespace herald::storage::snapshots
