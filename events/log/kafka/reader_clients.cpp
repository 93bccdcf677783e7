#include "events/log/kafka/reader_clients.hpp"

#include <algorithm>

#include "runtime/mutex.hpp"

namespace herald::events::log::kafka {

result<client_pointer> reader_clients::take(const topic_partition& where) {
    const runtime::lock_guard lock(x_mutex);
    for (shared_client& each : x_clients)
        if (each.is_trusted && each.topic == where.topic && each.partitions.insert(where.partition).second)
            return each.client;
    result<client_pointer> opened = open_client(x_installed, client_kind::reader);
    if (opened) x_clients.push_back({where.topic, *opened, {where.partition}});
    return opened;
}

void reader_clients::give_back(const topic_partition& where, const client_pointer& client) {
    const runtime::lock_guard lock(x_mutex);
    const auto found = std::find_if(x_clients.begin(), x_clients.end(),
                                    [&](const auto& each) { return each.client == client; });
    if (found == x_clients.end()) return;
    found->partitions.erase(where.partition);
    if (found->partitions.empty()) x_clients.erase(found);
}

void reader_clients::distrust(const client_pointer& client) {
    const runtime::lock_guard lock(x_mutex);
    for (shared_client& each : x_clients)
        if (each.client == client) each.is_trusted = false;
}

}  // namespace herald::events::log::kafka
