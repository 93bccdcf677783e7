// Stand-ins that pass everything on; a mutation overrides what it breaks.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "events/log.hpp"
#include "storage/state.hpp"

namespace herald::simulation {

class forwarding_log : public events::log {
  public:
    explicit forwarding_log(events::log& to) : x_to(to) {}
    std::unique_ptr<events::producer> open_producer(events::producer_kind kind) override {
        return x_to.open_producer(kind);
    }
    std::unique_ptr<events::reader> open_reader(const events::topic_partition& where,
                                                std::int64_t from) override {
        return x_to.open_reader(where, from);
    }
    std::unique_ptr<events::group_member> join(const std::string& group,
                                               const std::vector<std::string>& topics) override {
        return x_to.join(group, topics);
    }
    void query_range(const events::topic_partition& where, events::range_handler handler) override {
        x_to.query_range(where, std::move(handler));
    }
    result<std::int32_t> partitions(const std::string& topic) override { return x_to.partitions(topic); }
    result<void> create_topics() override { return x_to.create_topics(); }

  protected:
    events::log& x_to;
};

class forwarding_store : public storage::state_store {
  public:
    explicit forwarding_store(storage::state_store& to) : x_to(to) {}
    result<void> write(const storage::row_changes& changes) override { return x_to.write(changes); }
    std::shared_ptr<const storage::state_view> view() const override { return x_to.view(); }

  protected:
    storage::state_store& x_to;
};

}  // namespace herald::simulation
