// Which models this node has begun to load: one whose loading ends the process must not end it for ever.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "runtime/error.hpp"
#include "runtime/mutex.hpp"

namespace herald::api::serving::model_cache {

/// One small file for each name of which a load was begun and has not ended, in a folder of the node's data.
/// Thread-safe; waits for the disk.
class load_marks {
  public:
    explicit load_marks(std::filesystem::path folder) : x_folder(std::move(folder)) {}

    /// How many processes before this one began to load this name and did not end it. Below
    /// limits::load_ends_max this one counts, too, from now on, also after a loss of power: once, however
    /// many loads of the name are under way in it. Errors: unavailable and internal of the disk; unavailable
    /// after let_off().
    result<int> begin(const std::string& name);
    /// Whether begin() would find a load that did not end, of a process before this one. Not while one is
    /// under way in this.
    bool is_suspect(const std::string& name) const noexcept;
    /// One load ended, whatever came of it. Nothing counts any more after the last one.
    void end(const std::string& name) noexcept;
    /// This process is about to end because it was told to, which is no fault of what is being loaded:
    /// nothing counts any more. Any thread.
    void let_off() noexcept;

  private:
    const std::filesystem::path x_folder;
    struct begun {
        int before = 0;
        int under_way = 0;
    };
    mutable runtime::mutex x_mutex;
    std::map<std::string, begun> x_begun GUARDED_BY(x_mutex);
    bool x_is_over GUARDED_BY(x_mutex) = false;
};

}  // namespace herald::api::serving::model_cache
