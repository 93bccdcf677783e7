#include "api/serving/model_cache/load_marks.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "api/serving/model_cache/limits.hpp"
#include "storage/artifacts/arriving_file.hpp"

namespace herald::api::serving::model_cache {

namespace {

error mark_failed(std::string_view what, const std::filesystem::path& mark, int why) {
    const std::string whose = "the marks of loads in " + mark.parent_path().native();
    return storage::artifacts::failed_of(whose, what, mark, why);
}

}  // namespace

/// A byte for each time.
result<int> load_marks::begin(const std::string& name) {
    const auto path = x_folder / name;
    int before = 0;
    {
        const runtime::lock_guard lock(x_mutex);
        if (x_is_over) return runtime::unavailable("this process ends");
        if (const auto found = x_begun.find(name); found != x_begun.end()) {
            ++found->second.under_way;
            return found->second.before;
        }
        if (const auto made = storage::artifacts::make_folder(x_folder); !made) return made.error();
        const storage::artifacts::descriptor file(
            ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
        if (!file) return mark_failed("open", path, errno);
        const auto bytes = ::lseek(file.get(), 0, SEEK_END);
        if (bytes < 0) return mark_failed("look at", path, errno);
        before = static_cast<int>(bytes);
        if (before >= limits::load_ends_max) return before;
        const bool is_counted = ::write(file.get(), "x", 1) == 1 && ::fsync(file.get()) == 0;
        if (!is_counted) {
            const int why = errno;
            if (before == 0) ::unlink(path.c_str());
            return mark_failed("write", path, why);
        }
        x_begun[name] = {before, 1};
    }
    if (const auto synced = storage::artifacts::sync_folder(x_folder); !synced) {
        end(name);
        return synced.error();
    }
    return before;
}

bool load_marks::is_suspect(const std::string& name) const noexcept {
    const runtime::lock_guard lock(x_mutex);
    return !x_begun.contains(name) && ::access((x_folder / name).c_str(), F_OK) == 0;
}

int load_marks::ends_of(const std::string& name) const noexcept {
    std::error_code unknown;
    const auto bytes = std::filesystem::file_size(x_folder / name, unknown);
    return unknown ? 0 : static_cast<int>(std::min<std::uintmax_t>(bytes, limits::load_ends_max));
}

void load_marks::end(const std::string& name) noexcept {
    const runtime::lock_guard lock(x_mutex);
    const auto found = x_begun.find(name);
    if (found != x_begun.end() && --found->second.under_way > 0) return;
    if (found != x_begun.end()) x_begun.erase(found);
    ::unlink((x_folder / name).c_str());
}

void load_marks::let_off() noexcept {
    const runtime::lock_guard lock(x_mutex);
    x_is_over = true;
    for (const auto& [name, each] : x_begun) ::unlink((x_folder / name).c_str());
    x_begun.clear();
}

result<int> marked_load::begin() {
    const runtime::lock_guard lock(x_mutex);
    if (x_step != step::before) return runtime::unavailable("the load was given up");
    const auto before = x_marks->begin(x_name);
    if (before && *before < limits::load_ends_max) x_step = step::under_way;
    return before;
}

void marked_load::end() noexcept {
    const runtime::lock_guard lock(x_mutex);
    if (std::exchange(x_step, step::over) == step::under_way) x_marks->end(x_name);
}

}  // namespace herald::api::serving::model_cache
