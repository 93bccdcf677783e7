// Measures the Kafka log: the time from an append to its acknowledgement, and to its arrival at a reader of
// the same process.
// usage: kafka_bench BOOTSTRAP [SECONDS]     (deploy/kafka start prints the bootstrap address)
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "events/log/kafka/kafka_log.hpp"
#include "events/log/topics.hpp"
#include "runtime/random.hpp"

namespace {

using namespace herald;
using namespace herald::events;
using namespace events::log;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t record_bytes = 200;

struct percentiles {
    std::vector<double> ms;
    double at(double share) {
        if (ms.empty()) return 0;
        const auto nth = ms.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(ms.size() - 1));
        std::nth_element(ms.begin(), nth, ms.end());
        return *nth;
    }
};

double ms_since(clock_type::time_point start) {
    return std::chrono::duration<double, std::milli>(clock_type::now() - start).count();
}

/// `callers` callers, each with one record in flight: the next is sent when the reader has received the last.
class run {
  public:
    run(events::log::partitioned_log& log, std::size_t callers) : x_log(log), x_sent(callers) {}

    void measure(double seconds) {
        const topic_partition where{std::string(topic::commands), 0};
        x_producer = x_log.open_producer(producer_kind::ordinary);
        std::int64_t from = 0;
        std::atomic<bool> known = false;
        x_log.query_range(where, [&](result<offset_range> range) {
            from = range.value().next;
            known = true;
        });
        while (!known) std::this_thread::yield();
        const auto reader = x_log.open_reader(where, from);
        for (std::size_t caller = 0; caller < x_sent.size(); ++caller) send(where, caller);
        const auto start = clock_type::now();
        bool warm = false;
        auto counted_from = start;
        while (ms_since(start) < (seconds + 1) * 1'000) {
            const result<read_batch> batch = reader->poll(10'000, 100);
            if (!batch) continue;
            if (!warm && ms_since(start) > 1'000) {
                warm = true;
                counted_from = clock_type::now();
                x_read.ms.clear();
                std::lock_guard lock(x_mutex);
                x_acknowledged.ms.clear();
            }
            for (const record& each : batch->records) {
                std::size_t caller = 0;
                std::memcpy(&caller, each.value->data(), sizeof caller);
                x_read.ms.push_back(ms_since(x_sent[caller]));
                send(where, caller);
            }
        }
        const double lasted = ms_since(counted_from) / 1'000;
        x_producer.reset();
        std::printf("%8zu %10.2f %10.2f %14.2f %10.2f %12.0f\n", x_sent.size(), x_acknowledged.at(0.5),
                    x_acknowledged.at(0.99), x_read.at(0.5), x_read.at(0.99),
                    static_cast<double>(x_read.ms.size()) / lasted);
    }

  private:
    void send(const topic_partition& where, std::size_t caller) {
        std::string value(record_bytes, 'x');
        std::memcpy(value.data(), &caller, sizeof caller);
        x_sent[caller] = clock_type::now();
        const auto sent = x_sent[caller];
        const result<void> taken = x_producer->append(where, std::to_string(caller), std::move(value),
                                                      [this, sent](result<std::int64_t>) {
                                                          std::lock_guard lock(x_mutex);
                                                          x_acknowledged.ms.push_back(ms_since(sent));
                                                      });
        if (!taken) std::fprintf(stderr, "refused: %s\n", taken.error().message.c_str());
    }

    events::log::partitioned_log& x_log;
    std::unique_ptr<producer> x_producer;
    std::vector<clock_type::time_point> x_sent;
    percentiles x_read;
    std::mutex x_mutex;
    percentiles x_acknowledged;
};

}  // namespace

int main(int count, char** arguments) {
    if (count < 2) {
        std::fprintf(stderr, "usage: %s BOOTSTRAP [SECONDS]\n", arguments[0]);
        return 2;
    }
    kafka::kafka_options options;
    options.bootstrap_servers = arguments[1];
    options.replicas = 1;
    options.topic_prefix = "bench-" + runtime::uuid_text(runtime::system_random().uuid()) + ".";
    const double seconds = count > 2 ? std::atof(arguments[2]) : 5;
    const auto log = kafka::make_kafka_log(options);
    if (!log) {
        std::fprintf(stderr, "%s\n", log.error().message.c_str());
        return 1;
    }
    if (const result<void> made = (*log)->create_topics(); !made) {
        std::fprintf(stderr, "%s\n", made.error().message.c_str());
        return 1;
    }
    std::printf(
        "Kafka at %s, one partition, %zu-byte records, acks=all, idempotent; %u cores shared with the "
        "broker;\n"
        "each caller sends its next record when the reader has had the last; %.0f s each after 1 s of "
        "warm-up\n",
        arguments[1], record_bytes, std::thread::hardware_concurrency(), seconds);
    std::printf("%8s %10s %10s %14s %10s %12s\n", "callers", "ack p50", "ack p99", "read back p50",
                "p99 (ms)", "records/s");
    for (const std::size_t callers : {1u, 16u, 64u, 256u}) run(**log, callers).measure(seconds);
}
