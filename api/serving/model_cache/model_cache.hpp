// Copies of models on this node's disk, so that what loads them has a file, and a restart fetches nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/serving/model_cache/limits.hpp"
#include "runtime/event_loop.hpp"
#include "storage/artifacts/store.hpp"

namespace herald::api::serving::model_cache {

/// The name of the copy of these parts: their digests say all of it.
std::string name_of(const std::vector<storage::artifacts::stored_object>& parts);

/// A file with exactly the bytes that were asked for. It stays as long as somebody holds this.
class held_model {
  public:
    virtual ~held_model() = default;
    virtual const std::filesystem::path& file() const noexcept = 0;
};

/// Owned by the composition; thread-safe. Files, all in one folder:
///
///     <name>              a whole copy; appears by a rename
///     <name>.<n>.part     one that is arriving; those of a process that was killed go at the next start
///
/// A copy is compared with its digests each time that it is asked for, and fetched again when it differs or
/// cannot be read, but for want of memory or descriptors. Above its bounds, or when the next one would leave
/// too little free on the disk beside those that arrive, copies that nobody holds go, the longest unused
/// first; none of them when that would not be enough. A disk that is nearly full does not by itself make
/// one go, not even at a start: make_disk_room says which are needed.
class model_cache {
  public:
    struct bounds {
        std::uint64_t bytes_max = limits::cached_models_bytes_max;
        std::size_t models_max = limits::cached_models_max;
        std::uint64_t disk_free_bytes_min = 0;  // what copies must leave free on the disk
    };
    /// All of them must outlive it.
    struct parts {
        storage::artifacts::artifact_store& artifacts;
        runtime::blocking_pool& disk;
    };
    /// Errors: internal when the folder cannot be made or read.
    static result<std::unique_ptr<model_cache>> open(const std::filesystem::path& folder, const parts&,
                                                     const bounds&);
    ~model_cache();
    model_cache(const model_cache&) = delete;
    model_cache& operator=(const model_cache&) = delete;

    /// The bytes of the parts, one behind the other. Errors: unavailable when the bounds or the disk leave no
    /// room beside what is held; invalid_argument when the bounds would not if it were alone; those of
    /// read_joined; unavailable and internal of the disk.
    storage::artifacts::task<std::shared_ptr<const held_model>> get(
        std::vector<storage::artifacts::stored_object> wanted);

    /// Whether less is free on the disk than copies must leave, and a reserve for what else is written.
    bool is_disk_low() const;
    /// Copies that nobody holds go until the disk is not low, the longest unused first, but none of `needed`.
    void make_disk_room(const std::set<std::string>& needed);
    /// The names of the copies that nobody holds.
    std::set<std::string> unheld() const;
    /// These copies go, but for those that somebody holds by now.
    void drop(const std::set<std::string>& names);

    /// Of all copies, and of those that arrive.
    std::uint64_t bytes() const noexcept;

  private:
    class shelf;
    model_cache(std::shared_ptr<shelf> copies, const parts& with);

    const std::shared_ptr<shelf> x_shelf;
    const parts x_with;
};

}  // namespace herald::api::serving::model_cache
