// Functions that all of Herald's RocksDB databases need. RocksDB's types stay out of this header.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "storage/rocks/limits.hpp"

namespace rocksdb {
class Env;
class Logger;
}  // namespace rocksdb

namespace herald::storage::rocks {

/// For Options::info_log: warnings and errors go to the process's own log; the rest is dropped. RocksDB's
/// default, a file beside the data, stops the process when it cannot be written, as on a full disk.
std::shared_ptr<rocksdb::Logger> make_rocks_logger();

/// For Options::env, with max_bgerror_resume_count = 0: keeps RocksDB from resuming by itself once there is
/// room again. After a failed write to the write-ahead log, resuming would end the process, since Debian's
/// RocksDB is built with its assertions (WritableFileWriter::AssertFalseAndGetStatusForPrevError); instead,
/// the owner of the database opens it again. Never destroyed.
rocksdb::Env* env_without_resumption();

/// Whether there is enough free space to open a database in `folder` and continue for a while.
bool has_room(const std::filesystem::path& folder, std::uint64_t bytes = limits::rocks_room_bytes_min);

/// How much free space opening the databases of `folder` and of the folders beside it takes: tables are made
/// of their write-ahead logs, `share` times as large. At most limits::rocks_room_bytes_min.
std::uint64_t room_to_open(const std::filesystem::path& folder, double share);

}  // namespace herald::storage::rocks
