// The registry's state in a separate RocksDB. It can always be rebuilt from the log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "storage/registry/state/state.hpp"

namespace herald::storage::rocks {

enum class unreadable : std::uint8_t { corrupt, io_error };

/// A write is one batch, in the write-ahead log but not synced. After a crash rows and position are at the
/// older place together, and the log is read again from there. One thread writes; any thread takes views,
/// which keep the database open.
/// A database in which any read finds corruption is marked: the next open starts empty. An I/O error is not
/// corruption: the database must be reopened. After a full disk it can still be read, but must be reopened
/// before it can be written.
class rocks_state : public registry::state::state_store {
  public:
    /// Reads everything and compares checksums. Throws state_unreadable.
    virtual void verify() const = 0;
    /// `handler` is called once, on the thread that first finds rows unreadable; at once if that happened
    /// before. The reader also gets state_unreadable.
    virtual void on_unreadable(const std::function<void(unreadable)>& handler) = 0;
    /// Makes the next open start empty.
    virtual void mark_for_rebuilding(const std::string& why) const = 0;
    /// Makes every later open fail: for a state that holds what its log does not. It is kept for inspection.
    virtual void mark_as_refused(const std::string& why) const = 0;
    /// Copies the database as it is now into `folder`, which must not exist, while it is read and written.
    /// Large files are shared with this database where the disk allows it. Blocks. Errors: unavailable.
    virtual result<void> copy_to(const std::filesystem::path& folder) const = 0;
    /// `handler` is called, on the writing thread, once a write has failed and there is room again: the
    /// database must then be reopened. Set once, before the first write.
    virtual void on_reopening(std::function<void()> handler) = 0;
};

struct opened_state {
    std::unique_ptr<rocks_state> store;
    /// Why the existing database was dropped; empty if it was not.
    std::string rebuilt_because;
};

/// Opens or creates the database in `folder`; a corrupt one is deleted first. The folder must hold nothing
/// else. It keeps about `open_files_max` files open, never more than 256. Errors: unavailable when another
/// process has it open or the folder cannot be used; failed_precondition when it was marked as refused.
result<opened_state> open_rocks_state(const std::filesystem::path& folder, std::size_t open_files_max = 256);

}  // namespace herald::storage::rocks
