#include "api/serving/model_cache/marked_engine.hpp"

#include <chrono>
#include <utility>

#include "runtime/mutex.hpp"

namespace herald::api::serving::model_cache {
namespace {

using engines::loaded_model;
using engines::model_source;

/// Who may load beside whom. Nobody waits longer than its time: a load may never end.
class turns {
  public:
    explicit turns(std::int64_t wait_ms_max) : x_wait(wait_ms_max) {}

    void begin_beside_others() {
        const runtime::lock_guard lock(x_mutex);
        x_changed.wait_for(x_mutex, x_wait, [&]() REQUIRES(x_mutex) { return x_alone == 0; });
        ++x_beside;
    }
    void begin_alone() {
        const runtime::lock_guard lock(x_mutex);
        x_changed.wait_for(x_mutex, x_wait,
                           [&]() REQUIRES(x_mutex) { return x_alone == 0 && x_beside == 0; });
        ++x_alone;
    }
    void end(bool was_alone) {
        const runtime::lock_guard lock(x_mutex);
        --(was_alone ? x_alone : x_beside);
        x_changed.notify_all();
    }

  private:
    const std::chrono::milliseconds x_wait;
    runtime::mutex x_mutex;
    runtime::condition_variable x_changed;
    int x_alone GUARDED_BY(x_mutex) = 0;
    int x_beside GUARDED_BY(x_mutex) = 0;
};

/// A load that has begun; it ends once, at the latest when nobody can end it any more, as after a throw.
class begun_load {
  public:
    begun_load(std::shared_ptr<load_marks> marks, std::shared_ptr<turns> in, std::string name, bool is_alone)
        : x_mark(std::move(marks), std::move(name)), x_turns(std::move(in)), x_is_alone(is_alone) {
        if (x_is_alone)
            x_turns->begin_alone();
        else
            x_turns->begin_beside_others();
    }
    ~begun_load() { end(); }
    begun_load(const begun_load&) = delete;
    begun_load& operator=(const begun_load&) = delete;

    result<int> mark() { return x_mark.begin(); }
    void end() {
        if (std::exchange(x_has_ended, true)) return;
        x_mark.end();
        x_turns->end(x_is_alone);
    }

  private:
    marked_load x_mark;
    const std::shared_ptr<turns> x_turns;
    const bool x_is_alone;
    bool x_has_ended = false;
};

error refused(const std::string& what, int ends, const std::string& mark) {
    return runtime::invalid_argument({what, " the model ended the process of this node ", ends,
                                      " times; it is not loaded again here until the file herald/loads/",
                                      mark, " in the node's --data folder is removed"});
}

class marked_engine final : public engines::engine {
  public:
    marked_engine(std::shared_ptr<engines::engine> inner, std::shared_ptr<load_marks> marks,
                  std::int64_t alone_ms_max)
        : x_inner(std::move(inner)),
          x_marks(std::move(marks)),
          x_turns(std::make_shared<turns>(alone_ms_max)) {}

    std::string_view name() const noexcept override { return x_inner->name(); }

    void load(const model_source& source, load_handler loaded) override {
        if (const int ends = x_marks->ends_of(mark_of_runs(source)); ends >= limits::load_ends_max)
            return loaded(refused("running", ends, mark_of_runs(source)));
        const std::string name = mark_of(source);
        const bool is_alone = x_marks->is_suspect(name);
        auto begun = std::make_shared<begun_load>(x_marks, x_turns, name, is_alone);
        const auto before = begun->mark();
        if (before && *before >= limits::load_ends_max) {
            begun->end();
            return loaded(refused("loading", *before, name));
        }
        model_source marked = source;
        marked.end_mark = x_marks->file_of(mark_of_runs(source));
        x_inner->load(marked,
                      [begun = std::move(begun), loaded = std::move(loaded)](result<loaded_model> found) {
                          begun->end();
                          loaded(std::move(found));
                      });
    }

  private:
    const std::shared_ptr<engines::engine> x_inner;
    const std::shared_ptr<load_marks> x_marks;
    const std::shared_ptr<turns> x_turns;
};

}  // namespace

std::string mark_of(const model_source& source) {
    std::string out = "build-" + std::to_string(source.build.value);
    if (source.batching.size_max > 0) out += "-batch-" + std::to_string(source.batching.size_max);
    // One row at a time waits for no other.
    if (source.batching.size_max > 1) out += "-" + std::to_string(source.batching.delay_ms_max);
    return out;
}

std::string mark_of_runs(const model_source& source) {
    return "build-" + std::to_string(source.build.value) + "-runs";
}

std::shared_ptr<engines::engine> make_marked_engine(std::shared_ptr<engines::engine> inner,
                                                    std::shared_ptr<load_marks> marks,
                                                    std::int64_t alone_ms_max) {
    return std::make_shared<marked_engine>(std::move(inner), std::move(marks), alone_ms_max);
}

}  // namespace herald::api::serving::model_cache
