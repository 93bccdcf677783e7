// An embedded log in a folder of its own, whose clock is moved by hand.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "events/log/topics.hpp"
#include "storage/embedded_log/embedded_log.hpp"
#include "tests/support/folder.hpp"

namespace herald::test {

inline storage::embedded_log::embedded_log_options without_lag(std::size_t recent_bytes_max) {
    storage::embedded_log::embedded_log_options options;
    options.recent_bytes_max = recent_bytes_max;
    options.compaction_lag_ms = -1;
    return options;
}

inline const events::log::topic_partition commands_0{std::string(events::log::topic::commands), 0};
inline const events::log::topic_partition promote_0{std::string(events::log::topic::promote), 0};
inline const events::log::topic_partition direct_0{std::string(events::log::topic::direct), 0};
inline const events::log::topic_partition dead_0{std::string(events::log::topic::dead), 0};
inline const events::log::topic_partition subscribers_0{std::string(events::log::topic::subscribers), 0};

class embedded_log : public ::testing::Test {
  protected:
    result<void> try_open(const std::filesystem::path& folder) {
        x_log.reset();
        auto opened = storage::embedded_log::make_embedded_log(folder, x_options, x_clock);
        if (!opened) return opened.error();
        x_log = std::move(*opened);
        return x_log->create_topics();
    }
    void open(const std::filesystem::path& folder) {
        const result<void> opened = try_open(folder);
        ASSERT_TRUE(opened) << opened.error().message;
    }
    void open() { open(x_folder / "log"); }

    result<std::int64_t> append(const events::log::topic_partition& where, std::string key,
                                std::optional<std::string> value) {
        std::promise<result<std::int64_t>> answer;
        const auto producer = x_log->open_producer(events::log::producer_kind::ordinary);
        const result<void> taken =
            producer->append(where, std::move(key), std::move(value),
                             [&](result<std::int64_t> got) { answer.set_value(std::move(got)); });
        if (!taken) return taken.error();
        return answer.get_future().get();
    }
    void append_many(const events::log::topic_partition& where, int count, std::size_t value_bytes) {
        std::mutex mutex;
        std::condition_variable changed;
        int waiting = 0;
        int failed = 0;
        const auto producer = x_log->open_producer(events::log::producer_kind::ordinary);
        for (int i = 0; i < count; ++i) {
            std::unique_lock lock(mutex);
            changed.wait(lock, [&] { return waiting < 4'096; });
            ++waiting;
            lock.unlock();
            const result<void> taken =
                producer->append(where, std::to_string(i), std::string(value_bytes, 'v'),
                                 [&](const result<std::int64_t>& got) {
                                     std::lock_guard inner(mutex);
                                     --waiting;
                                     failed += got ? 0 : 1;
                                     changed.notify_one();
                                 });
            ASSERT_TRUE(taken);
        }
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return waiting == 0; });
        ASSERT_EQ(failed, 0);
    }
    /// Everything from `from` on, or the error that prevents it.
    result<std::vector<events::log::record>> read(const events::log::topic_partition& where,
                                                  std::int64_t from) {
        const auto reader = x_log->open_reader(where, from);
        std::vector<events::log::record> found;
        while (true) {
            result<events::log::read_batch> batch = reader->poll(1'000, 0);
            if (!batch) return batch.error();
            std::move(batch->records.begin(), batch->records.end(), std::back_inserter(found));
            if (batch->at_end) return found;
        }
    }
    std::vector<std::string> values(const events::log::topic_partition& where, std::int64_t from) {
        std::vector<std::string> found;
        const auto records = read(where, from);
        EXPECT_TRUE(records) << records.error().message;
        if (records)
            for (const events::log::record& each : *records)
                found.push_back(each.key + "=" + each.value.value_or("none"));
        return found;
    }
    events::log::offset_range range(const events::log::topic_partition& where) {
        std::promise<events::log::offset_range> answer;
        x_log->query_range(where,
                           [&](const result<events::log::offset_range>& got) { answer.set_value(*got); });
        return answer.get_future().get();
    }
    /// The log's folder as kill -9 would leave it at this moment.
    std::filesystem::path copy_alive() {
        const std::filesystem::path copy = x_folder / ("copy" + std::to_string(++x_copies));
        std::filesystem::copy(x_folder / "log", copy, std::filesystem::copy_options::recursive);
        return copy;
    }

    temporary_folder x_folder;
    runtime::manual_clock x_clock;
    storage::embedded_log::embedded_log_options x_options;
    std::unique_ptr<storage::embedded_log::embedded_log> x_log;
    int x_copies = 0;
};

}  // namespace herald::test
