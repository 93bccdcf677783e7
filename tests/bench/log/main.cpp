// Measures the embedded log against the disk under it: the time from an append to its arrival at a reader of
// the same process, and a bare loop of write and fdatasync.
// usage: log_bench [FOLDER]     (on the disk to measure; the temporary folder otherwise)
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "events/log/topics.hpp"
#include "storage/embedded_log/embedded_log.hpp"

namespace {

using namespace herald;
using time_point = std::chrono::steady_clock::time_point;

constexpr std::size_t record_bytes = 200;
constexpr double warm_up_s = 0.5;
constexpr double measured_s = 3;

time_point now() { return std::chrono::steady_clock::now(); }
double seconds_since(time_point start) { return std::chrono::duration<double>(now() - start).count(); }

void print_row(const std::string& what, std::vector<double>& seconds, double lasted_s) {
    if (seconds.empty()) {
        std::fprintf(stderr, "%s: nothing was read back\n", what.c_str());
        std::exit(1);
    }
    std::sort(seconds.begin(), seconds.end());
    const auto at = [&](double share) {
        return seconds[static_cast<std::size_t>(share * static_cast<double>(seconds.size() - 1))] * 1e6;
    };
    std::printf("%-24s %8.0f %8.0f %12.0f\n", what.c_str(), at(0.5), at(0.99),
                static_cast<double>(seconds.size()) / lasted_s);
}

void measure_disk(const std::filesystem::path& folder) {
    const std::string path = (folder / "bare").string();
    const int file = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    const std::string bytes(record_bytes, 'x');
    std::vector<double> seconds;
    const time_point start = now();
    while (seconds_since(start) < measured_s) {
        const time_point before = now();
        if (::write(file, bytes.data(), bytes.size()) < 0 || ::fdatasync(file) != 0) {
            std::perror("the disk");
            std::exit(1);
        }
        seconds.push_back(seconds_since(before));
    }
    print_row("write + fdatasync", seconds, seconds_since(start));
    ::close(file);
}

/// Each caller sends its next record when the reader has received its last.
void measure_log(events::log::partitioned_log& log, std::string_view topic, std::size_t callers) {
    const events::log::topic_partition where{std::string(topic), 0};
    const auto producer = log.open_producer(events::log::producer_kind::ordinary);
    const auto send = [&](std::size_t caller) {
        std::string value(record_bytes, 'x');
        const time_point sent = now();
        std::memcpy(value.data(), &caller, sizeof caller);
        std::memcpy(value.data() + sizeof caller, &sent, sizeof sent);
        const auto taken = producer->append(where, "key", std::move(value), [](const auto&) {});
        if (!taken) std::fprintf(stderr, "%s\n", taken.error().message.c_str());
    };
    std::atomic<std::int64_t> end = -1;
    log.query_range(where, [&](const result<events::log::offset_range>& range) { end = range->next; });
    while (end < 0) std::this_thread::yield();
    const auto reader = log.open_reader(where, end);
    for (std::size_t caller = 0; caller < callers; ++caller) send(caller);
    std::vector<double> seconds;
    const time_point start = now();
    while (seconds_since(start) < warm_up_s + measured_s) {
        const result<events::log::read_batch> batch = reader->poll(1'000, 100);
        if (!batch) std::exit(1);
        for (const events::log::record& each : batch->records) {
            std::size_t caller = 0;
            time_point sent;
            std::memcpy(&caller, each.value->data(), sizeof caller);
            std::memcpy(&sent, each.value->data() + sizeof caller, sizeof sent);
            if (seconds_since(start) > warm_up_s) seconds.push_back(seconds_since(sent));
            send(caller);
        }
    }
    print_row(std::to_string(callers) + " callers, " + std::string(topic), seconds, measured_s);
}

}  // namespace

int main(int count, char** arguments) {
    std::string pattern =
        (count > 1 ? std::filesystem::path(arguments[1]) : std::filesystem::temp_directory_path()) /
        "herald-log-bench-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) {
        std::perror(pattern.c_str());
        return 1;
    }
    const std::filesystem::path folder = pattern;
    std::printf("%s, %u cores, %zu-byte records, one partition; %.0f s each; from append to read back\n\n",
                folder.c_str(), std::thread::hardware_concurrency(), record_bytes, measured_s);
    std::printf("%-24s %8s %8s %12s\n", "", "p50 us", "p99 us", "records/s");
    measure_disk(folder);
    {
        const auto log =
            storage::embedded_log::make_embedded_log(folder / "log", {}, runtime::system_clock());
        if (!log || !(*log)->create_topics()) return 1;
        for (const std::size_t callers : {1u, 16u, 64u, 256u})
            measure_log(**log, events::log::topic::commands, callers);
        for (const std::size_t callers : {1u, 256u}) measure_log(**log, events::log::topic::promote, callers);
    }
    measure_disk(folder);
    std::filesystem::remove_all(folder);
}
