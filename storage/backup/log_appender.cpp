#include "storage/backup/log_appender.hpp"

#include "storage/backup/limits.hpp"

namespace herald::storage::backup {

result<void> log_appender::append(const events::log::topic_partition& where, std::string key,
                                  std::string value) {
    if (auto room = wait_below(limits::restore_appends_in_flight_max); !room) return room;
    {
        const runtime::lock_guard lock(x_shared->mutex);
        ++x_shared->in_flight;
    }
    const auto answered = [shared = x_shared](const result<std::int64_t>& offset) {
        const runtime::lock_guard lock(shared->mutex);
        --shared->in_flight;
        if (!offset && !shared->failure) shared->failure = offset.error();
        shared->changed.notify_all();
    };
    auto accepted = x_producer->append(where, std::move(key), std::move(value), answered);
    if (!accepted) answered(accepted.error());
    return accepted;
}

result<void> log_appender::wait_below(std::size_t count) {
    const runtime::lock_guard lock(x_shared->mutex);
    x_shared->changed.wait(x_shared->mutex, [&]() REQUIRES(x_shared->mutex) {
        return x_shared->in_flight < count || x_shared->failure;
    });
    if (x_shared->failure) return *x_shared->failure;
    return {};
}

}  // namespace herald::storage::backup
