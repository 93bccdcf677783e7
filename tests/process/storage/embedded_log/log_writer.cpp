// Appends to an embedded log from several threads until it is killed. Prints what was acknowledged, as lines
// "<topic> <offset> <value>". usage: log_writer FOLDER NAME
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "events/log/topics.hpp"
#include "storage/embedded_log/embedded_log.hpp"

namespace {

using namespace herald;

/// Keeps a few appends unacknowledged, so that batches hold several.
void append_for_ever(events::log::partitioned_log& log, std::string_view topic, const std::string& name) {
    constexpr int unacknowledged_max = 16;
    const events::log::topic_partition where{std::string(topic), 0};
    const auto producer = log.open_producer(events::log::producer_kind::ordinary);
    std::atomic<int> unacknowledged = 0;
    for (std::uint64_t number = 0;; ++number) {
        while (unacknowledged >= unacknowledged_max) unacknowledged.wait(unacknowledged_max);
        ++unacknowledged;
        const std::string value = name + "/" + std::to_string(number);
        const result<void> taken = producer->append(
            where, "key", value, [&unacknowledged, topic, value](const result<std::int64_t>& offset) {
                if (!offset) std::exit(1);
                const std::string line =
                    std::string(topic) + " " + std::to_string(*offset) + " " + value + "\n";
                if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) std::_Exit(1);
                --unacknowledged;
                unacknowledged.notify_one();
            });
        if (!taken) std::exit(1);
    }
}

}  // namespace

int main(int argument_count, char** arguments) {
    if (argument_count != 3) return 2;
    const std::string name = arguments[2];
    const auto log = storage::embedded_log::make_embedded_log(arguments[1], {}, runtime::system_clock());
    if (!log || !(*log)->create_topics()) return 1;
    std::vector<std::thread> writers;
    for (const std::string_view topic :
         {events::log::topic::commands, events::log::topic::direct, events::log::topic::promote})
        writers.emplace_back([&log, topic, name] { append_for_ever(**log, topic, name); });
    for (std::thread& each : writers) each.join();
}
