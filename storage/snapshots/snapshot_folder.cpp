#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "runtime/crypto.hpp"
#include "runtime/files.hpp"
#include "storage/snapshots/snapshot_store.hpp"

namespace herald::storage::snapshots {
namespace {

namespace fs = std::filesystem;

/// Names that begin like this are not snapshots.
constexpr std::string_view unfinished = "unfinished";
constexpr std::size_t copied_bytes = 4ull << 20;

error trouble_with(const fs::path& path, const std::error_code& why) {
    return runtime::unavailable({"the snapshot ", path.string(), " cannot be kept or read: ", why.message()});
}

/// Named by this machine and workplace, so that processes that share a folder do not take each other's.
std::string half_done_name(const fs::path& workplace) {
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    std::error_code failure;
    const std::string who = std::string(host.data()) + ":" + fs::absolute(workplace, failure).string();
    return std::string(unfinished) + "-" +
           runtime::to_hex(runtime::as_bytes(runtime::sha256(who)).substr(0, 8));
}

/// As fs::copy_file, in pieces, and synced.
result<void> copy(const fs::path& from, const fs::path& to, const std::stop_token& stop) {
    std::ifstream in(from, std::ios::binary);
    std::ofstream out(to, std::ios::binary | std::ios::trunc);
    std::string piece(copied_bytes, '\0');
    while (in && out) {
        if (stop.stop_requested()) return runtime::aborted("the snapshot was not finished");
        in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
        out.write(piece.data(), in.gcount());
    }
    out.close();
    std::error_code failure;
    if (!in.eof() || !out) failure = std::make_error_code(std::errc::io_error);
    if (!failure) failure = runtime::make_durable(to);
    if (failure) return trouble_with(to, failure);
    return {};
}

class snapshot_folder final : public snapshot_store {
  public:
    snapshot_folder(fs::path folder, fs::path workplace)
        : x_folder(std::move(folder)),
          x_workplace(std::move(workplace)),
          x_half_done(x_folder / half_done_name(x_workplace)) {}

    result<std::vector<std::string>> names() const override {
        std::vector<std::string> found;
        std::error_code failure;
        if (!fs::exists(x_folder, failure) && !failure) return found;
        for (fs::directory_iterator each(x_folder, failure), end; !failure && each != end;
             each.increment(failure))
            if (!each->path().filename().string().starts_with(unfinished))
                found.push_back(each->path().filename().string());
        if (failure) return trouble_with(x_folder, failure);
        std::sort(found.rbegin(), found.rend());
        return found;
    }

    result<fs::path> workplace() override {
        std::error_code failure;
        fs::create_directories(x_folder, failure);
        if (!failure) fs::permissions(x_folder, fs::perms::owner_all, failure);
        if (!failure) fs::remove_all(x_half_done, failure);
        if (!failure) fs::create_directories(x_workplace.parent_path(), failure);
        if (!failure) fs::remove_all(x_workplace, failure);
        if (failure) return trouble_with(x_workplace, failure);
        return x_workplace;
    }

    result<void> keep(const std::string& name, const std::stop_token& stop) override {
        std::error_code failure;
        fs::rename(x_workplace, x_half_done, failure);
        if (failure == std::errc::cross_device_link) {
            failure.clear();
            if (const auto copied = copy_workplace(stop); !copied) return copied;
            fs::remove_all(x_workplace, failure);
        }
        for (fs::directory_iterator each(x_half_done, failure), end; !failure && each != end;
             each.increment(failure)) {
            if (stop.stop_requested()) return runtime::aborted("the snapshot was not finished");
            if (const auto why = runtime::make_durable(each->path())) return trouble_with(each->path(), why);
        }
        if (!failure) failure = runtime::make_durable(x_half_done);
        if (stop.stop_requested()) return runtime::aborted("the snapshot was not finished");
        if (!failure) fs::remove_all(x_folder / name, failure);
        if (!failure) fs::rename(x_half_done, x_folder / name, failure);
        if (!failure) failure = runtime::make_durable(x_folder);
        if (failure) return trouble_with(x_folder / name, failure);
        return {};
    }

    void clear() override {
        std::error_code ignored;
        fs::remove_all(x_workplace, ignored);
        fs::remove_all(x_half_done, ignored);
    }

    result<std::string> read(const std::string& name, const std::string& file,
                             std::size_t bytes_max) const override {
        const fs::path path = x_folder / name / file;
        std::ifstream from(path, std::ios::binary);
        if (!from) return runtime::not_found({"there is no file ", path.string()});
        std::string bytes(bytes_max, '\0');
        from.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        if (from.bad()) return trouble_with(path, {EIO, std::generic_category()});
        bytes.resize(static_cast<std::size_t>(from.gcount()));
        return bytes;
    }

    result<void> fetch(const std::string& name, const fs::path& folder) const override {
        std::error_code failure;
        const fs::path from = x_folder / name;
        if (!fs::exists(from, failure)) return runtime::not_found({"there is no snapshot ", from.string()});
        fs::create_directories(folder, failure);
        for (fs::directory_iterator each(from, failure), end; !failure && each != end;
             each.increment(failure)) {
            const fs::path to = folder / each->path().filename();
            std::error_code unshared;
            if (each->path().extension() == ".sst") fs::create_hard_link(each->path(), to, unshared);
            if (each->path().extension() != ".sst" || unshared) fs::copy_file(each->path(), to, failure);
            if (failure) return trouble_with(to, failure);
        }
        if (failure) return trouble_with(from, failure);
        return {};
    }

    result<void> drop(const std::string& name) override {
        std::error_code failure;
        fs::remove_all(x_folder / name, failure);
        if (failure) return trouble_with(x_folder / name, failure);
        return {};
    }

  private:
    result<void> copy_workplace(const std::stop_token& stop) {
        std::error_code failure;
        fs::create_directories(x_half_done, failure);
        for (fs::directory_iterator each(x_workplace, failure), end; !failure && each != end;
             each.increment(failure))
            if (const auto copied = copy(each->path(), x_half_done / each->path().filename(), stop); !copied)
                return copied;
        if (failure) return trouble_with(x_half_done, failure);
        return {};
    }

    const fs::path x_folder;
    const fs::path x_workplace;
    const fs::path x_half_done;  // in the folder
};

}  // namespace

std::unique_ptr<snapshot_store> make_snapshot_folder(const fs::path& folder, const fs::path& workplace) {
    return std::make_unique<snapshot_folder>(folder, workplace);
}

}  // namespace herald::storage::snapshots
