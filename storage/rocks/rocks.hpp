// What every RocksDB of Herald needs. RocksDB's types stay out of this header.
#pragma once

#include <filesystem>
#include <memory>

namespace rocksdb {
class Env;
class Logger;
}  // namespace rocksdb

namespace herald::storage::rocks {

/// For Options::info_log: warnings and errors go to the process's own log, the rest nowhere. RocksDB's
/// default, a file beside the data, stops the process when it cannot be written: on a full disk.
std::shared_ptr<rocksdb::Logger> make_rocks_logger();

/// For Options::env, with max_bgerror_resume_count = 0: keeps RocksDB from going on by itself once there is
/// room again. After a failed write to the write-ahead log that ends the process, for Debian's RocksDB checks
/// its assertions (WritableFileWriter::AssertFalseAndGetStatusForPrevError): who owns the database opens it
/// again instead. Never destroyed.
rocksdb::Env* env_without_resumption();

/// Whether there is so much free that a database in `folder` can be opened and go on for a while.
bool has_room(const std::filesystem::path& folder);

}  // namespace herald::storage::rocks
