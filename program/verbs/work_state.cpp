#include "program/verbs/work_state.hpp"

#include <cstdlib>

#include "program/parts/open_log.hpp"
#include "storage/registry/tables/position.hpp"
#include "storage/rocks/rocks_state.hpp"

namespace herald::program {
namespace {

namespace fs = std::filesystem;

enum class afterwards : std::uint8_t { kept, removed };

class rocks_work_state final : public work_state {
  public:
    rocks_work_state(fs::path folder, afterwards fate) : x_folder(std::move(folder)), x_fate(fate) {}
    ~rocks_work_state() override {
        x_store.reset();
        std::error_code ignored;
        if (x_fate == afterwards::removed) fs::remove_all(x_folder, ignored);
    }

    result<void> make(events::log::partitioned_log& log) {
        auto opened = storage::rocks::open_rocks_state(x_folder / "state");
        if (!opened) return opened.error();
        x_store = std::move(opened->store);
        const auto applied = apply_log(log, *x_store, 0);
        if (!applied) return applied.error();
        x_position = *applied;
        return {};
    }

    /// As make, but only to the end of the restore; false when it has not ended.
    result<bool> make_restored(events::log::partitioned_log& log) {
        auto opened = storage::rocks::open_rocks_state(x_folder / "state");
        if (!opened) return opened.error();
        x_store = std::move(opened->store);
        const auto is_restored = apply_log_to_restored(log, *x_store);
        if (is_restored)
            x_position = storage::registry::tables::positions::find(*x_store->view()).value_or(x_position);
        return is_restored;
    }

    storage::registry::state::state_store& rows() const override { return *x_store; }
    const storage::registry::engine::engine_position& position() const override { return x_position; }

  private:
    const fs::path x_folder;
    const afterwards x_fate;
    std::unique_ptr<storage::rocks::rocks_state> x_store;
    storage::registry::engine::engine_position x_position;
};

result<std::unique_ptr<work_state>> make(fs::path folder, afterwards fate,
                                         events::log::partitioned_log& log) {
    auto state = std::make_unique<rocks_work_state>(std::move(folder), fate);
    if (const auto made = state->make(log); !made) return made.error();
    return std::unique_ptr<work_state>(std::move(state));
}

result<fs::path> make_temporary_folder(const fs::path& beside) {
    std::error_code failure;
    for (const fs::path& where : {beside.has_parent_path() ? beside.parent_path() : fs::path("."),
                                  fs::temp_directory_path(failure)}) {
        std::string pattern = (where / "herald-state-XXXXXX").string();
        if (::mkdtemp(pattern.data()) != nullptr) return fs::path(pattern);
    }
    return runtime::unavailable(
        {"no temporary folder can be made beside ", beside.string(), " or in TMPDIR"});
}

}  // namespace

result<std::unique_ptr<work_state>> make_work_state(const settings& chosen, events::log::partitioned_log& log,
                                                    const fs::path& beside) {
    if (!is_on_kafka(chosen)) return make(folder_of(chosen), afterwards::kept, log);
    const auto folder = make_temporary_folder(beside);
    if (!folder) return folder.error();
    return make(*folder, afterwards::removed, log);
}

result<std::unique_ptr<work_state>> make_work_state_in(const fs::path& folder,
                                                       events::log::partitioned_log& log) {
    return make(folder, afterwards::kept, log);
}

result<std::unique_ptr<work_state>> make_restored_state(const fs::path& beside,
                                                        events::log::partitioned_log& log) {
    const auto folder = make_temporary_folder(beside);
    if (!folder) return folder.error();
    auto state = std::make_unique<rocks_work_state>(*folder, afterwards::removed);
    const auto is_restored = state->make_restored(log);
    if (!is_restored) return is_restored.error();
    if (!*is_restored) return std::unique_ptr<work_state>();
    return std::unique_ptr<work_state>(std::move(state));
}

}  // namespace herald::program
