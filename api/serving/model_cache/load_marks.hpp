// Which models this node has begun to load: one whose loading ends the process must not end it for ever.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "runtime/error.hpp"
#include "runtime/mutex.hpp"

namespace herald::api::serving::model_cache {

/// One small file for each load that was begun and has not ended, in a folder of the node's data. Thread-safe
/// for different names; waits for the disk.
class load_marks {
  public:
    explicit load_marks(std::filesystem::path folder) : x_folder(std::move(folder)) {}

    /// How often a load of this name was begun before and did not end. Below limits::load_ends_max it counts
    /// once more from now on, also after a loss of power. Errors: unavailable and internal of the disk;
    /// unavailable after let_off().
    result<int> begin(const std::string& name);
    /// Whether begin() would find a load that did not end.
    bool is_suspect(const std::string& name) const noexcept;
    /// It ended, whatever came of it.
    void end(const std::string& name) noexcept;
    /// This process is about to end because it was told to, which is no fault of what is being loaded:
    /// nothing counts any more. Any thread.
    void let_off() noexcept;

  private:
    const std::filesystem::path x_folder;
    runtime::mutex x_mutex;
    std::set<std::string> x_begun GUARDED_BY(x_mutex);
    bool x_is_over GUARDED_BY(x_mutex) = false;
};

}  // namespace herald::api::serving::model_cache
