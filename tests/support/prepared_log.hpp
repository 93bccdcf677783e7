// A log of commands that can only be read, from memory.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "events/log/log.hpp"

namespace herald::test {

class prepared_log final : public events::log::partitioned_log {
  public:
    explicit prepared_log(std::vector<events::log::record> records) : x_records(std::move(records)) {}
    std::unique_ptr<events::log::reader> open_reader(const events::log::topic_partition&,
                                                     std::int64_t from_offset) override {
        return std::make_unique<prepared_reader>(x_records, static_cast<std::size_t>(from_offset));
    }
    std::unique_ptr<events::log::producer> open_producer(events::log::producer_kind) override {
        std::abort();
    }
    std::unique_ptr<events::log::group_member> join(const std::string&,
                                                    const std::vector<std::string>&) override {
        std::abort();
    }
    void query_range(const events::log::topic_partition&, events::log::range_handler) override {
        std::abort();
    }
    result<std::int32_t> partitions(const std::string&) override { std::abort(); }
    result<std::vector<std::int64_t>> committed(const std::string&) override { std::abort(); }
    result<void> create_topics() override { std::abort(); }

  private:
    class prepared_reader final : public events::log::reader {
      public:
        prepared_reader(const std::vector<events::log::record>& records, std::size_t next)
            : x_records(records), x_next(next) {}
        result<events::log::read_batch> poll(std::size_t records_max, std::int64_t) override {
            events::log::read_batch batch;
            while (x_next < x_records.size() && batch.records.size() < records_max)
                batch.records.push_back(x_records[x_next++]);
            batch.at_end = x_next == x_records.size();
            return batch;
        }
        void on_ready(std::function<void()>) override {}

      private:
        const std::vector<events::log::record>& x_records;
        std::size_t x_next;
    };
    const std::vector<events::log::record> x_records;
};

}  // namespace herald::test
