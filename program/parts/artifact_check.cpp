#include "program/parts/artifact_check.hpp"

#include <chrono>
#include <future>
#include <iostream>
#include <limits>
#include <thread>

#include "program/options/limits.hpp"
#include "program/parts/node_parts.hpp"
#include "program/parts/open_artifacts.hpp"
#include "runtime/crypto.hpp"
#include "runtime/random.hpp"
#include "runtime/task_group.hpp"
#include "storage/artifacts/directory_store.hpp"
#include "storage/artifacts/limits.hpp"
#include "storage/backup/limits.hpp"
#include "storage/registry/tables/artifacts.hpp"

namespace herald::program {
namespace {

using storage::artifacts::artifact_store;
using storage::artifacts::stored_object;

constexpr std::chrono::milliseconds rest_when_busy{250};

/// Reads to the end. Errors: those of the store; aborted.
storage::artifacts::task<> read_whole(artifact_store& store, stored_object object, std::stop_token stop) {
    const storage::artifacts::byte_range all{0, object.bytes};
    const auto stream = co_await store.read(object, all);
    if (!stream) co_return stream.error();
    while (true) {
        const auto piece = co_await (*stream)->next();
        if (!piece) co_return piece.error();
        if (piece->empty()) co_return result<void>();
        if (stop.stop_requested()) co_return runtime::aborted("the backup was interrupted");
    }
}

boost::asio::awaitable<void> read_for(artifact_store& store, stored_object object, std::stop_token stop,
                                      std::promise<result<void>>& told) {
    auto read = co_await read_whole(store, std::move(object), std::move(stop));
    told.set_value(std::move(read));
}

/// Errors: not_found when it is not there; those of the store.
boost::asio::awaitable<void> look_for(artifact_store& store, stored_object object,
                                      std::promise<result<void>>& told) {
    const auto is_there = co_await store.has(object.object);
    result<void> answer;
    if (!is_there) answer = is_there.error();
    if (is_there && !*is_there) answer = runtime::not_found({"the object ", object.object, " is missing"});
    told.set_value(std::move(answer));
}

enum class depth : std::uint8_t { is_there, every_byte };

class comparison {
  public:
    comparison(artifact_store& store, depth how, storage::backup::backup_end& end, std::stop_token stop)
        : x_store(store), x_depth(how), x_end(end), x_stop(std::move(stop)) {}

    /// Errors: unavailable, aborted.
    result<void> compare(const schemas::blob& blob) {
        ++x_end.artifacts;
        result<void> read = read_one(blob);
        for (int attempt = 1; attempt < limits::artifact_check_attempts_max && !x_stop.stop_requested();
             ++attempt) {
            if (read || read.error().code != error_code::unavailable) break;
            std::this_thread::sleep_for(rest_when_busy);
            read = read_one(blob);
        }
        if (read) return read;
        if (x_stop.stop_requested()) return runtime::aborted("the backup was interrupted");
        if (read.error().code == error_code::unavailable) return read;
        ++x_end.artifacts_lost;
        if (x_end.lost_artifacts.size() < limits::artifacts_named_max)
            x_end.lost_artifacts.push_back(blob.digest);
        return {};
    }

  private:
    result<void> read_one(const schemas::blob& blob) {
        std::promise<result<void>> told;
        auto answer = told.get_future();
        const stored_object object{blob.object, blob.digest, blob.bytes};
        if (x_depth == depth::every_byte)
            x_tasks.start("artifact_check", read_for(x_store, object, x_stop, told));
        else
            x_tasks.start("artifact_check", look_for(x_store, object, told));
        auto read = answer.get();
        x_tasks.join(std::numeric_limits<std::int64_t>::max());
        return read;
    }

    artifact_store& x_store;
    const depth x_depth;
    storage::backup::backup_end& x_end;
    const std::stop_token x_stop;
    runtime::event_loops x_loop{one_loop};
    runtime::task_group x_tasks{x_loop[0]};
};

/// Errors: unavailable, aborted.
result<void> compare_all(const storage::registry::state::state_view& state, comparison& with) {
    using storage::registry::tables::blobs;
    for (auto blob = blobs::first_from(state, ""); blob; blob = blobs::first_from(state, blob->digest + '\0'))
        if (blob->references > 0)
            if (const auto done = with.compare(*blob); !done) return done;
    return {};
}

/// The store, for as long as a command runs.
struct opened_store {
    runtime::blocking_pool reading{limits::artifact_threads, limits::artifact_calls_waiting_max};
    runtime::blocking_pool writing{limits::artifact_threads, limits::artifact_calls_waiting_max};
    std::unique_ptr<artifact_store> store;
};
/// Empty when it is a folder that is not there.
result<std::unique_ptr<opened_store>> open_store(const settings& chosen) {
    std::error_code ignored;
    if (!are_in_a_bucket(chosen) && !std::filesystem::is_directory(artifacts_folder(chosen), ignored))
        return std::unique_ptr<opened_store>();
    auto opened = std::make_unique<opened_store>();
    auto store = open_artifacts(chosen, {opened->reading, opened->writing});
    if (!store) return store.error();
    opened->store = *std::move(store);
    return opened;
}

}  // namespace

storage::backup::artifact_check make_artifact_check(artifact_store& store) {
    return [&store](const storage::registry::state::state_view& state, storage::backup::backup_end& end,
                    const std::stop_token& stop) -> result<void> {
        comparison compared(store, depth::every_byte, end, stop);
        if (const auto done = compare_all(state, compared); !done) return done;
        end.artifacts_compared = true;
        return {};
    };
}

storage::backup::artifact_check make_store_check(const settings& chosen) {
    return [&chosen](const storage::registry::state::state_view& state, storage::backup::backup_end& end,
                     const std::stop_token& stop) -> result<void> {
        const auto opened = open_store(chosen);
        if (!opened) return opened.error();
        if (!*opened) return {};
        return make_artifact_check(*(*opened)->store)(state, end, stop);
    };
}

result<void> tell_missing_artifacts(const settings& chosen,
                                    const storage::registry::state::state_view& state) {
    if (is_on_kafka(chosen) && chosen.artifacts.empty() && !are_in_a_bucket(chosen)) return {};
    storage::backup::backup_end found;
    const auto opened = open_store(chosen);
    if (!opened) return opened.error();
    if (*opened) {
        comparison compared(*(*opened)->store, depth::is_there, found, {});
        if (const auto done = compare_all(state, compared); !done) return done;
        tell_lost_artifacts(found);
        return {};
    }
    if (storage::registry::tables::blobs::first_from(state, ""))
        std::cerr
            << "herald: there are artifacts, and no folder " << artifacts_folder(chosen).string()
            << " with their bytes: copy it from where the backup was made, or name it with --artifacts\n";
    return {};
}

void tell_lost_artifacts(const storage::backup::backup_end& end) {
    if (end.artifacts_lost == 0) return;
    std::cerr << "herald: " << end.artifacts_lost << " of " << end.artifacts
              << " artifacts are missing or damaged in their store:\n";
    for (const std::string& digest : end.lost_artifacts)
        std::cerr << "herald:   sha256 " << runtime::to_hex(digest) << "\n";
}

}  // namespace herald::program
