// What every RocksDB of Herald needs. RocksDB's types stay out of this header.
#pragma once

#include <memory>

namespace rocksdb {
class Logger;
}

namespace herald::storage {

/// For Options::info_log: warnings and errors go to the process's own log, the rest nowhere. RocksDB's
/// default, a file beside the data, stops the process when it cannot be written: on a full disk.
std::shared_ptr<rocksdb::Logger> make_rocks_logger();

}  // namespace herald::storage
