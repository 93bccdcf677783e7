// The registry's state in a RocksDB of its own. It can always be made again from the log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "storage/registry/state/state.hpp"

namespace herald::storage::rocks {

enum class unreadable : std::uint8_t { corrupt, io_error };

/// A write is one batch: written ahead, not synced. After a crash rows and position go back together, and the
/// log is read again from there. One thread writes; any thread takes views, which keep the database open.
/// A database that turns out to be corrupt, wherever, is marked as such: the next open starts empty. An I/O
/// error is no corruption: the database is to be opened anew. One whose disk was full is read on, but written
/// again only after it was opened anew.
class rocks_state : public registry::state::state_store {
  public:
    /// Reads everything and compares checksums. Throws state_unreadable.
    virtual void verify() const = 0;
    /// `handler` is called once, on the thread that found it, when rows cannot be read; at once when that was
    /// before. The reader gets state_unreadable besides.
    virtual void on_unreadable(const std::function<void(unreadable)>& handler) = 0;
    /// The next open starts empty.
    virtual void mark_for_rebuilding(const std::string& why) const = 0;
    /// Every later open fails: for a state that holds what its log does not. It is kept for who wants to
    /// look.
    virtual void mark_as_refused(const std::string& why) const = 0;
    /// `handler` is called, on the writing thread, once a write failed and there is room again: the database
    /// is to be opened anew. Set once, before the first write.
    virtual void on_reopening(std::function<void()> handler) = 0;
};

struct opened_state {
    std::unique_ptr<rocks_state> store;
    /// Why the database that was there was dropped; empty when it was not.
    std::string rebuilt_because;
};

/// Opens the database in `folder`, or makes it; a corrupt one is deleted first. Nothing else may be in the
/// folder. It keeps about `open_files_max` files open, never more than 256. Errors: unavailable when another
/// process has it or the folder cannot be used; failed_precondition when it was marked as refused.
result<opened_state> open_rocks_state(const std::filesystem::path& folder, std::size_t open_files_max = 256);

}  // namespace herald::storage::rocks
