#include "storage/snapshots/snapshot_files.hpp"

#include <array>
#include <cstdio>
#include <fstream>

#include "runtime/crypto.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "schemas/binary.hpp"
#include "schemas/commands/level.hpp"
#include "storage/registry/tables/installation.hpp"
#include "storage/registry/tables/position.hpp"
#include "storage/snapshots/limits.hpp"

namespace herald::storage::snapshots {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view list_name = "LIST";
constexpr std::size_t digest_bytes = 32;
constexpr std::size_t read_bytes = 1ull << 20;

result<std::string> digest_of(const fs::path& path, const std::stop_token& stop = {}) {
    std::ifstream file(path, std::ios::binary);
    runtime::sha256_stream sum;
    std::string piece(read_bytes, '\0');
    while (file) {
        if (stop.stop_requested()) return runtime::aborted("the snapshot was not finished");
        file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
        sum.add(std::string_view(piece).substr(0, static_cast<std::size_t>(file.gcount())));
    }
    if (!file.eof()) return runtime::unavailable({"the file ", path.string(), " cannot be read"});
    return std::string(runtime::as_bytes(sum.finish()));
}

result<void> write_list(const fs::path& folder, const snapshot_list& list) {
    const std::string bytes = schemas::encode(list);
    std::ofstream file(folder / list_name, std::ios::binary);
    file << digest_of(list) << bytes;
    file.close();
    if (file) return {};
    return runtime::unavailable({"the file ", (folder / list_name).string(), " cannot be written"});
}

/// Errors: failed_precondition; unavailable.
result<void> check_files(const fs::path& folder, const snapshot_list& list) {
    std::error_code failure;
    std::size_t present = 0;
    for (fs::directory_iterator each(folder, failure), end; !failure && each != end; each.increment(failure))
        ++present;
    if (failure) return runtime::unavailable({"the folder ", folder.string(), ": ", failure.message()});
    if (present != list.files.size() + 1)
        return runtime::failed_precondition(
            {"it has ", present - 1, " files, but ", list.files.size(), " belong to it"});
    for (const snapshot_list::file& each : list.files) {
        if (fs::file_size(folder / each.name, failure) != each.bytes || failure)
            return runtime::failed_precondition(
                {"its file ", each.name, " is not of ", each.bytes, " bytes"});
        const auto digest = digest_of(folder / each.name);
        if (!digest) return digest.error();
        if (*digest != each.digest)
            return runtime::failed_precondition({"the digest of its file ", each.name, " is wrong"});
    }
    return {};
}

/// Errors: failed_precondition, why it cannot be used; others.
result<void> fetch_whole(const snapshot_store& from, const std::string& name, const schemas::uuid& log_id,
                         std::uint32_t generation, const fs::path& folder) {
    const auto list = list_of(from, name);
    if (!list) return list.error();
    if (list->log_id != log_id || list->generation != generation)
        return runtime::failed_precondition("it is of another log");
    if (list->level > schemas::commands::newest_level)
        return runtime::failed_precondition({"it is of level ", list->level,
                                             ", and this program goes up to level ",
                                             schemas::commands::newest_level, ": install a newer program"});
    std::error_code failure;
    fs::remove_all(folder, failure);
    if (const auto fetched = from.fetch(name, folder); !fetched) return fetched;
    if (const auto good = check_files(folder, *list); !good) return good;
    fs::remove(folder / list_name, failure);
    return {};
}

/// Sorts by age, in one log and from one to the next.
std::string name_of(const snapshot_list& list) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%010u-%020llu", list.generation,
                  static_cast<unsigned long long>(list.next_offset));
    return text.data();
}

/// Errors: as take_snapshot; then something may be left in the workplace.
result<std::string> take_or_leave(const rocks::rocks_state& state, snapshot_store& store,
                                  const std::stop_token& stop) {
    snapshot_list list;
    {
        const auto view = state.view();
        const auto position = registry::tables::positions::find(*view);
        const auto installation = registry::tables::installation::find(*view);
        if (!position || !installation)
            return runtime::failed_precondition("no record is applied yet: there is nothing to take");
        list.log_id = installation->log_id;
        list.generation = installation->generation;
        list.level = registry::tables::level_in_force(*view);
        list.next_offset = position->next_offset;
        list.time_ms = position->time_ms;
    }
    const auto place = store.workplace();
    if (!place) return place.error();
    if (const auto copied = state.copy_to(*place); !copied) return copied.error();
    std::error_code failure;
    std::uint64_t bytes = 0;
    for (fs::directory_iterator each(*place, failure), end; !failure && each != end;
         each.increment(failure)) {
        const auto digest = digest_of(each->path(), stop);
        if (!digest) return digest.error();
        list.files.push_back({each->path().filename().string(), each->file_size(failure), *digest});
        bytes += list.files.back().bytes;
    }
    if (failure) return runtime::unavailable({"the folder ", place->string(), ": ", failure.message()});
    if (const auto written = write_list(*place, list); !written) return written.error();
    const std::string name = name_of(list);
    if (const auto kept = store.keep(name, stop); !kept) return kept.error();
    runtime::log(runtime::log_level::info, runtime::log_events::snapshot_taken,
                 {{"name", name}, {"bytes", static_cast<std::int64_t>(bytes)}});
    const auto all = store.names();
    if (!all) return all.error();
    for (std::size_t old = limits::snapshots_kept; old < all->size(); ++old)
        if (const auto dropped = store.drop((*all)[old]); !dropped) return dropped.error();
    return name;
}

}  // namespace

std::string digest_of(const snapshot_list& list) {
    return std::string(runtime::as_bytes(runtime::sha256(schemas::encode(list))));
}

result<snapshot_list> list_of(const snapshot_store& from, const std::string& name) {
    const auto read = from.read(name, std::string(list_name), limits::snapshot_list_bytes_max);
    if (!read && read.error().code != error_code::not_found) return read.error();
    const std::string bytes = read ? *read : std::string();
    const error damaged = runtime::failed_precondition("the list of its files is damaged or missing");
    if (bytes.size() < digest_bytes) return damaged;
    const std::string rest = bytes.substr(digest_bytes);
    if (runtime::as_bytes(runtime::sha256(rest)) != bytes.substr(0, digest_bytes)) return damaged;
    auto list = schemas::decode<snapshot_list>(rest);
    if (!list) return damaged;
    return *std::move(list);
}

result<std::string> take_snapshot(const rocks::rocks_state& state, snapshot_store& store,
                                  const std::stop_token& stop) {
    auto taken = take_or_leave(state, store, stop);
    if (!taken) store.clear();
    return taken;
}

std::optional<snapshot_list> newest_of(const snapshot_store& from, const schemas::uuid& log_id,
                                       std::uint32_t generation) {
    const auto names = from.names();
    if (!names) return std::nullopt;
    for (const std::string& name : *names) {
        auto list = list_of(from, name);
        if (list && list->log_id == log_id && list->generation == generation) return *std::move(list);
    }
    return std::nullopt;
}

result<std::optional<std::string>> load_newest(const snapshot_store& from, const schemas::uuid& log_id,
                                               std::uint32_t generation, const fs::path& state) {
    const auto names = from.names();
    if (!names) return names.error();
    fs::path place = state;
    place += ".loading";
    std::error_code failure;
    for (const std::string& name : *names) {
        const auto whole = fetch_whole(from, name, log_id, generation, place);
        if (whole) {
            fs::rename(place, state, failure);
            if (failure)
                return runtime::unavailable({"cannot make ", state.string(), ": ", failure.message()});
            runtime::log(runtime::log_level::info, runtime::log_events::snapshot_loaded, {{"name", name}});
            return name;
        }
        fs::remove_all(place, failure);
        runtime::log(runtime::log_level::warning, runtime::log_events::snapshot_refused,
                     {{"name", name}, {"reason", whole.error().message}});
    }
    return std::optional<std::string>();
}

void drop_all(snapshot_store& store) {
    if (const auto names = store.names(); names)
        for (const std::string& name : *names)
            if (const auto dropped = store.drop(name); !dropped) return;
}

}  // namespace herald::storage::snapshots
