// The questions about several partitions, for logs to which each costs little.
#include "events/log/log.hpp"

#include <utility>

#include "runtime/mutex.hpp"

namespace herald::events::log {
namespace {

/// The answers so far; calls back when its last owner, a question, has gone.
class collected_ends {
  public:
    explicit collected_ends(ends_handler handler) : x_handler(std::move(handler)) {}
    ~collected_ends() { x_handler(take()); }
    collected_ends(const collected_ends&) = delete;
    collected_ends& operator=(const collected_ends&) = delete;

    void add(const topic_partition& where, std::int64_t next) {
        const runtime::lock_guard lock(x_mutex);
        x_ends.emplace(where, next);
    }

  private:
    partition_ends take() {
        const runtime::lock_guard lock(x_mutex);
        return std::move(x_ends);
    }

    ends_handler x_handler;
    runtime::mutex x_mutex;
    partition_ends x_ends GUARDED_BY(x_mutex);
};

}  // namespace

void partitioned_log::query_ends(const std::vector<topic_partition>& all, ends_handler handler) {
    const auto collected = std::make_shared<collected_ends>(std::move(handler));
    for (const topic_partition& where : all)
        query_range(where, [collected, where](const result<offset_range>& range) {
            if (range) collected->add(where, range->next);
        });
}

}  // namespace herald::events::log
