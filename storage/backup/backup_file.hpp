// The file of a backup. It holds no key: stored secrets in it stay sealed under the key ring.
//
//   file   := "HERALD BACKUP " format "\n" part* digest:32   SHA-256 of everything before it; the format is
//                                                           schemas::stored_format, as text
//   part   := kind:1 length:8 bytes                    big-endian
//   kinds  := 'H' backup_header, 'R' schemas::commands::restore_rows, 'D' carried_records, 'E' backup_end:
//             one H, any number of R, then of D, one E
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/crypto.hpp"
#include "schemas/commands/installation.hpp"
#include "schemas/commands/restoring.hpp"

namespace herald::storage::backup {

/// Which state it is.
struct backup_header {
    schemas::commands::genesis log;  // how its log began
    std::uint32_t level = 0;         // in force
    std::uint64_t next_offset = 0;
    std::int64_t time_ms = 0;  // log time there
    std::int64_t made_ms = 0;  // wall time

    HERALD_DESCRIBE(log, level, next_offset, time_ms, made_ms);
};

/// A record that a worker had not finished, or that may be replayed.
struct carried_record {
    std::string topic;
    std::uint32_t partition = 0;
    std::string key;
    std::string value;

    HERALD_DESCRIBE(topic, partition, key, value);
};
struct carried_records {
    std::vector<carried_record> records;

    HERALD_DESCRIBE(records);
};

struct backup_end {
    std::uint64_t pieces = 0;
    std::uint64_t rows = 0;
    std::uint64_t records = 0;
    std::string rows_digest;     // over the pieces, as in GENESIS
    std::string content_digest;  // registry::tables::content
    std::string records_digest;  // SHA-256(the digest before ‖ the part), over the parts with records
    // About the artifacts that the rows refer to; a backup does not hold their bytes:
    bool artifacts_compared = false;  // each was read to its end, and compared with its digest
    std::uint64_t artifacts = 0;
    std::uint64_t artifacts_lost = 0;         // missing or damaged
    std::vector<std::string> lost_artifacts;  // the digests of the first limits::artifacts_named_max of them

    HERALD_DESCRIBE(pieces, rows, records, rows_digest, content_digest, records_digest, artifacts_compared,
                    artifacts, artifacts_lost, lost_artifacts);
};

/// What a backup says of itself.
struct backup_summary {
    backup_header header;
    backup_end end;
    std::uint64_t bytes = 0;
};

/// The part between a backup's name and the end of its file's name while it is written.
inline constexpr std::string_view unfinished_suffix = ".unfinished-";

/// SHA-256(the digest before ‖ the encoded records): backup_end::records_digest.
std::string records_digest_after(const std::string& before, const std::string& encoded);

/// Writes into a file of its own beside it, and gives it the name at the end: there is never half a backup
/// under a name, even if others write. One thread.
class backup_writer {
  public:
    /// Each call is `aborted` once a stop was asked for.
    explicit backup_writer(std::filesystem::path file, std::stop_token stop = {});
    /// Removes what is not finished.
    ~backup_writer();
    backup_writer(const backup_writer&) = delete;
    backup_writer& operator=(const backup_writer&) = delete;

    /// Errors: already_exists when there is such a file; unavailable.
    result<void> begin(const backup_header&);
    result<void> add(const schemas::commands::restore_rows&);
    result<void> add(const carried_records&);
    /// Afterwards it is on the disk. Returns its size.
    result<std::uint64_t> finish(const backup_end&);

  private:
    result<void> put(char kind, const std::string& bytes);
    result<void> write(const std::string& bytes);

    /// Errors: unavailable, naming the file.
    error failed(int number) const;
    result<void> flush();

    const std::filesystem::path x_file;
    const std::stop_token x_stop;
    std::filesystem::path x_unfinished;  // empty when there is none
    int x_descriptor = -1;
    std::string x_buffer;
    runtime::sha256_stream x_sum;
    std::uint64_t x_bytes = 0;
};

struct backup_visitor {
    std::function<result<void>(const schemas::commands::restore_rows&)> rows;
    std::function<result<void>(const carried_records&)> records;
};

/// Reads the whole file and compares every digest. Errors: not_found; failed_precondition when it is not a
/// backup, is damaged, cut off, or of a newer version; unavailable.
result<backup_summary> verify_backup(const std::filesystem::path&);
/// The head of a file, without reading or comparing the rest. Errors: as verify_backup.
struct backup_look {
    backup_summary summary;
    std::string digest;  // SHA-256 of all before it
};
result<backup_look> look_at_backup(const std::filesystem::path&);
/// Visits the parts of a file that was verified. Errors: those, and the visitor's.
result<void> visit_backup(const std::filesystem::path&, const backup_visitor&);

}  // namespace herald::storage::backup
