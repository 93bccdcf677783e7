// Stand-ins that forward everything; a mutation overrides what it breaks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/log/log.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::test {

class forwarding_log : public events::log::partitioned_log {
  public:
    explicit forwarding_log(events::log::partitioned_log& to) : x_to(to) {}
    std::unique_ptr<events::log::producer> open_producer(events::log::producer_kind kind) override {
        return x_to.open_producer(kind);
    }
    result<void> takes_appends() const override { return x_to.takes_appends(); }
    std::optional<std::int64_t> time_ms() const override { return x_to.time_ms(); }
    std::unique_ptr<events::log::reader> open_reader(const events::log::topic_partition& where,
                                                     std::int64_t from) override {
        return x_to.open_reader(where, from);
    }
    std::unique_ptr<events::log::group_member> join(const std::string& group,
                                                    const std::vector<std::string>& topics) override {
        return x_to.join(group, topics);
    }
    void query_range(const events::log::topic_partition& where, events::log::range_handler handler) override {
        x_to.query_range(where, std::move(handler));
    }
    void query_ends(const std::vector<events::log::topic_partition>& all,
                    events::log::ends_handler handler) override {
        x_to.query_ends(all, std::move(handler));
    }
    result<std::int32_t> partitions(const std::string& topic) override { return x_to.partitions(topic); }
    result<std::vector<std::int64_t>> committed(const std::string& topic) override {
        return x_to.committed(topic);
    }
    result<void> create_topics() override { return x_to.create_topics(); }

  protected:
    events::log::partitioned_log& x_to;
};

class forwarding_member : public events::log::group_member {
  public:
    explicit forwarding_member(std::unique_ptr<events::log::group_member> to) : x_to(std::move(to)) {}
    std::vector<events::log::member_event> poll(std::size_t events_max, std::int64_t wait_ms) override {
        return x_to->poll(events_max, wait_ms);
    }
    void on_ready(std::function<void()> notify) override { x_to->on_ready(std::move(notify)); }
    void pause(const events::log::topic_partition& where) override { x_to->pause(where); }
    void resume(const events::log::topic_partition& where) override { x_to->resume(where); }
    void commit(const events::log::topic_partition& where, std::uint64_t epoch, std::int64_t next_offset,
                std::string metadata) override {
        x_to->commit(where, epoch, next_offset, std::move(metadata));
    }
    void release(const events::log::topic_partition& where, std::uint64_t epoch) override {
        x_to->release(where, epoch);
    }

  protected:
    std::unique_ptr<events::log::group_member> x_to;
};

/// Returns given records, whatever the partition contains.
class made_up_reader final : public events::log::reader {
  public:
    explicit made_up_reader(std::vector<events::log::record> records) : x_records(std::move(records)) {}
    result<events::log::read_batch> poll(std::size_t, std::int64_t) override {
        return events::log::read_batch{std::exchange(x_records, {}), true};
    }
    void on_ready(std::function<void()> notify) override { notify(); }

  private:
    std::vector<events::log::record> x_records;
};

class forwarding_store : public storage::registry::state::state_store {
  public:
    explicit forwarding_store(storage::registry::state::state_store& to) : x_to(to) {}
    result<void> write(const storage::registry::state::row_changes& changes) override {
        return x_to.write(changes);
    }
    std::shared_ptr<const storage::registry::state::state_view> view() const override { return x_to.view(); }

  protected:
    storage::registry::state::state_store& x_to;
};

}  // namespace herald::test
