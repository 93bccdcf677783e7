#include "runtime/own_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace herald::runtime {
namespace {

namespace fs = std::filesystem;

bool has_word(std::string_view list, std::string_view word) {
    while (!list.empty()) {
        const std::size_t end = list.find(',');
        if (list.substr(0, end) == word) return true;
        list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
    }
    return false;
}

/// A mounted hierarchy of control groups that may bound memory.
struct hierarchy {
    std::string root;  // the group that is at its mount point
    fs::path mounted_at;
    bool is_version_1 = false;
};

/// A line is "31 23 0:28 <root> <mount point> <options> [<tag>…] - <type> <source> <options>".
std::vector<hierarchy> hierarchies_of(const fs::path& mounts) {
    std::vector<hierarchy> out;
    std::ifstream lines(mounts);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string skipped, root, mounted_at, word, type, source, options;
        words >> skipped >> skipped >> skipped >> root >> mounted_at;
        while (words >> word && word != "-") {
        }
        words >> type >> source >> options;
        const bool is_version_1 = type == "cgroup" && has_word(options, "memory");
        if (is_version_1 || type == "cgroup2") out.push_back({root, mounted_at, is_version_1});
    }
    return out;
}

/// The process's group, or an empty text: a line is "<number>:<controllers>:<path>", of version 2
/// "0::<path>".
std::string group_in(const hierarchy& of, const fs::path& groups) {
    std::ifstream lines(groups);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
        if (of.is_version_1 ? has_word(controllers, "memory") : line.starts_with("0::"))
            return line.substr(second + 1);
    }
    return {};
}

/// The group's folder, or the mount point when the group is outside of what is mounted here.
fs::path folder_of(const hierarchy& of, std::string_view group) {
    if (of.root != "/") {
        if (!group.starts_with(of.root)) return of.mounted_at;
        group.remove_prefix(of.root.size());
        if (!group.empty() && group[0] != '/') return of.mounted_at;
    }
    while (group.starts_with('/')) group.remove_prefix(1);
    if (group.empty() || group.find("..") != std::string_view::npos) return of.mounted_at;
    return of.mounted_at / group;
}

/// UINT64_MAX when the file is not there, or holds no number ("max").
std::uint64_t number_in(const fs::path& file) {
    std::ifstream in(file);
    std::uint64_t number = 0;
    return in >> number && number > 0 ? number : UINT64_MAX;
}

}  // namespace

std::uint64_t memory_bound_of_groups(const fs::path& process) {
    std::uint64_t bytes = UINT64_MAX;
    for (const hierarchy& each : hierarchies_of(process / "mountinfo")) {
        const std::string group = group_in(each, process / "cgroup");
        if (group.empty()) continue;
        const char* const file = each.is_version_1 ? "memory.limit_in_bytes" : "memory.max";
        fs::path folder = folder_of(each, group);
        for (; folder != each.mounted_at; folder = folder.parent_path())
            bytes = std::min(bytes, number_in(folder / file));
        bytes = std::min(bytes, number_in(folder / file));
    }
    return bytes;
}

std::uint64_t own_memory_bytes(const fs::path& process) {
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    const long page_bytes = ::sysconf(_SC_PAGESIZE);
    std::uint64_t bytes = UINT64_MAX;
    if (pages > 0 && page_bytes > 0)
        bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
    return std::min(bytes, memory_bound_of_groups(process));
}

}  // namespace herald::runtime
