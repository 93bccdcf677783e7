#include "storage/backup/backup_desk.hpp"

#include <algorithm>
#include <optional>

#include "runtime/background_task.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/mutex.hpp"
#include "storage/backup/limits.hpp"
#include "storage/registry/tables/installation.hpp"
#include "storage/registry/tables/position.hpp"

namespace herald::storage::backup {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view extension = ".backup";

/// Sorts by age: generation, offset, and the wall time, since two may be made at one offset.
std::string name_of(const schemas::commands::genesis& log, std::uint64_t next_offset, std::int64_t now_ms) {
    const auto padded = [](std::uint64_t number, std::size_t digits) {
        const std::string text = std::to_string(number);
        return std::string(digits - std::min(digits, text.size()), '0') + text;
    };
    return "herald-" + padded(log.generation, 4) + "-" + padded(next_offset, 12) + "-" +
           padded(static_cast<std::uint64_t>(now_ms), 13) + std::string(extension);
}

class folder_desk final : public backup_desk {
  public:
    explicit folder_desk(backup_desk_parts parts) : x_parts(std::move(parts)) { remove_cut_off(); }

    result<backup_row> begin() override {
        const auto view = x_parts.state.view();
        const auto position = registry::tables::positions::find(*view);
        const auto log = registry::tables::installation::find(*view);
        if (!position || !log)
            return runtime::failed_precondition(
                "there is no installation here yet, so there is nothing to back up");
        if (x_parts.is_disk_low())
            return runtime::unavailable("too little disk space is left to make a backup");
        const auto there = names();
        if (!there) return there.error();
        if (there->size() >= limits::backups_kept_max)
            return runtime::failed_precondition({"the folder of backups holds ", there->size(),
                                                 " already, and at most ", limits::backups_kept_max,
                                                 " are kept there: move old ones away"});
        backup_row row;
        row.made_ms = x_parts.clock.wall_ms();
        row.name = name_of(*log, position->next_offset, row.made_ms);
        row.path = x_parts.folder / row.name;
        row.state = backup_state::running;
        auto begun = x_task.begin([this, row, view](const std::stop_token& stop) { make(row, view, stop); },
                                  [&] {
                                      const runtime::lock_guard lock(x_mutex);
                                      x_newest = row;
                                  });
        if (!begun && begun.error().code == error_code::already_exists)
            return runtime::already_exists("a backup is being made already; wait until it is done");
        if (!begun) return begun.error();
        return row;
    }

    result<std::vector<backup_row>> list() const override {
        std::vector<backup_row> rows;
        {
            const runtime::lock_guard lock(x_mutex);
            if (x_newest) rows.push_back(*x_newest);
        }
        const auto there = names();
        if (!there) return there.error();
        for (const std::string& name : *there) {
            if (rows.size() >= limits::backups_listed_max) break;
            if (rows.empty() || rows.front().name != name) rows.push_back(row_of(name));
        }
        return rows;
    }

  private:
    /// The newest first.
    result<std::vector<std::string>> names() const {
        std::vector<std::string> found;
        std::error_code failure;
        if (!fs::exists(x_parts.folder, failure) && !failure) return found;
        for (fs::directory_iterator each(x_parts.folder, failure), end; !failure && each != end;
             each.increment(failure))
            if (each->path().extension() == extension) found.push_back(each->path().filename().string());
        if (failure)
            return runtime::unavailable({"the folder of backups cannot be read: ", failure.message()});
        std::sort(found.rbegin(), found.rend());
        return found;
    }

    backup_row row_of(const std::string& name) const {
        backup_row row;
        row.name = name;
        row.path = x_parts.folder / name;
        auto told = look_at_backup(row.path);
        if (!told) {
            row.state = backup_state::damaged;
            row.problem = told.error().message;
            return row;
        }
        row.made_ms = told->summary.header.made_ms;
        row.bytes = told->summary.bytes;
        row.digest = told->digest;
        row.what = std::move(told->summary);
        return row;
    }

    void make(backup_row row, const std::shared_ptr<const registry::state::state_view>& view,
              const std::stop_token& stop) {
        std::error_code failure;
        fs::create_directories(x_parts.folder, failure);
        fs::permissions(x_parts.folder, fs::perms::owner_all, failure);
        result<backup_summary> made = runtime::unavailable("the database of this node cannot be read");
        try {
            made = make_backup({*view, x_parts.log, x_parts.check, stop}, row.path, row.made_ms);
        } catch (const registry::state::state_unreadable&) {
            // The node ends, and its database is opened again.
        }
        const runtime::lock_guard lock(x_mutex);
        if (made) {
            x_newest.reset();  // its file says it all
            runtime::log(runtime::log_level::info, runtime::log_events::backup_made,
                         {{"name", row.name}, {"bytes", static_cast<std::int64_t>(made->bytes)}});
            return;
        }
        row.state = backup_state::failed;
        row.problem = made.error().message;
        runtime::log(runtime::log_level::error, runtime::log_events::backup_failed,
                     {{"name", row.name}, {"reason", row.problem}});
        x_newest = std::move(row);
    }

    void remove_cut_off() const {
        std::error_code failure;
        std::vector<fs::path> old;
        for (fs::directory_iterator each(x_parts.folder, failure), end; !failure && each != end;
             each.increment(failure))
            if (each->path().filename().string().find(std::string(extension) +
                                                      std::string(unfinished_suffix)) != std::string::npos)
                old.push_back(each->path());
        for (const fs::path& each : old) fs::remove(each, failure);
    }

    const backup_desk_parts x_parts;
    mutable runtime::mutex x_mutex;
    std::optional<backup_row> x_newest GUARDED_BY(x_mutex);  // that is being made, or has failed
    runtime::background_task x_task;                         // the last: it uses the others
};

}  // namespace

std::unique_ptr<backup_desk> make_backup_desk(backup_desk_parts parts) {
    return std::make_unique<folder_desk>(std::move(parts));
}

}  // namespace herald::storage::backup
