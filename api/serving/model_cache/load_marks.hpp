// Which models this node has begun to load: one whose loading ends the process must not end it for ever.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

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
    /// After an error it does not count, and needs no end().
    result<int> begin(const std::string& name);
    /// Whether begin() would find a load that did not end, of a process before this one. Not while one is
    /// under way in this.
    bool is_suspect(const std::string& name) const noexcept;
    /// The file of this name; its folder may not be there yet.
    std::filesystem::path file_of(const std::string& name) const { return x_folder / name; }
    /// How often something with this name ended the process, as its file says.
    int ends_of(const std::string& name) const noexcept;
    /// One load ended, whatever came of it. Nothing counts any more after the last one.
    void end(const std::string& name) noexcept;
    /// This process is about to end because it was told to; the model that is being loaded is not the cause:
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

/// One load of a name: once it has begun it ends once, at the latest with this object, as after a throw.
/// Thread-safe; waits for the disk.
class marked_load {
  public:
    marked_load(std::shared_ptr<load_marks> marks, std::string name)
        : x_marks(std::move(marks)), x_name(std::move(name)) {}
    ~marked_load() { end(); }
    marked_load(const marked_load&) = delete;
    marked_load& operator=(const marked_load&) = delete;

    /// load_marks::begin, once. Errors: also unavailable after end().
    result<int> begin();
    void end() noexcept;
    /// The ends of before count for nothing any more: they were told of.
    void forget() noexcept { x_marks->end(x_name); }

  private:
    enum class step { before, under_way, over };
    const std::shared_ptr<load_marks> x_marks;
    const std::string x_name;
    runtime::mutex x_mutex;
    step x_step GUARDED_BY(x_mutex) = step::before;
};

}  // namespace herald::api::serving::model_cache
