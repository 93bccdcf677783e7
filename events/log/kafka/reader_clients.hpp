// Chooses the clients for readers outside groups. Internal to events/log/kafka.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "events/log/kafka/client.hpp"
#include "runtime/mutex.hpp"

namespace herald::events::log::kafka {

/// A client has three threads and a connection to each broker, and can read all partitions of a topic. So the
/// readers of one topic share a client; a second reader of the same partition gets another one. Owned by the
/// log and by everything it opened. Thread-safe.
class reader_clients {
  public:
    explicit reader_clients(std::shared_ptr<installation> installed) : x_installed(std::move(installed)) {}

    /// A client for one reader, until give_back(). Errors: as open_client.
    result<client_pointer> take(const topic_partition&);
    void give_back(const topic_partition&, const client_pointer&);
    /// The client fell silent: no further reader gets it. Readers that already have it notice by themselves.
    void distrust(const client_pointer&);

  private:
    struct shared_client {
        std::string topic;
        client_pointer client;
        std::set<std::int32_t> partitions;
        bool is_trusted = true;
    };

    const std::shared_ptr<installation> x_installed;
    runtime::mutex x_mutex;
    std::vector<shared_client> x_clients GUARDED_BY(x_mutex);
};

}  // namespace herald::events::log::kafka
