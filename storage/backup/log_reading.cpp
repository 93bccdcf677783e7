#include "storage/backup/log_reading.hpp"

#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include "schemas/binary.hpp"
#include "storage/backup/limits.hpp"

namespace herald::storage::backup {

using events::log::offset_range;
using events::log::partitioned_log;
using events::log::record;
using events::log::topic_partition;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr std::size_t records_per_poll = 500;
constexpr std::int64_t poll_wait_ms = 200;
constexpr milliseconds rest_at_end{20};  // a poll at the end need not wait

}  // namespace

result<offset_range> range_of(partitioned_log& log, const topic_partition& where) {
    const auto answer = std::make_shared<std::promise<result<offset_range>>>();
    auto told = answer->get_future();
    log.query_range(where, [answer](result<offset_range> range) { answer->set_value(std::move(range)); });
    if (told.wait_for(milliseconds(limits::backup_log_wait_ms_max)) != std::future_status::ready)
        return runtime::unavailable("the log does not answer");
    return told.get();
}

result<void> each_record(partitioned_log& log, const topic_partition& where, std::int64_t from,
                         std::int64_t below, const std::function<result<void>(const record&)>& visit) {
    if (from >= below) return {};
    const milliseconds patience(limits::backup_silence_ms_max);
    const auto reader = log.open_reader(where, from);
    for (auto silent_until = steady_clock::now() + patience; steady_clock::now() < silent_until;) {
        const auto batch = reader->poll(records_per_poll, poll_wait_ms);
        if (!batch && batch.error().code == error_code::failed_precondition) return batch.error();
        if (!batch || batch->records.empty()) {
            std::this_thread::sleep_for(rest_at_end);
            continue;
        }
        silent_until = steady_clock::now() + patience;
        for (const record& one : batch->records) {
            if (one.offset >= below) return {};
            if (const auto visited = visit(one); !visited) return visited;
        }
        if (batch->records.back().offset >= below - 1) return {};
    }
    return runtime::unavailable({"the topic ", where.topic, "[", where.partition,
                                 "] cannot be read up to offset ", below, " now: try again"});
}

result<std::optional<schemas::event>> last_event(partitioned_log& log, const topic_partition& where,
                                                 const offset_range& range) {
    std::optional<schemas::event> last;
    const auto read = each_record(log, where, std::max(range.first, range.next - 1), range.next,
                                  [&](const record& one) -> result<void> {
                                      auto event = schemas::decode<schemas::event>(one.value.value_or(""));
                                      if (event) last = *std::move(event);
                                      return {};
                                  });
    if (!read) return read.error();
    return last;
}

}  // namespace herald::storage::backup
