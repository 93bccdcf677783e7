// Which brokers let this process in. Internal to events/log/kafka.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/lasting_trouble.hpp"
#include "runtime/mutex.hpp"

namespace herald::events::log::kafka {

/// Hears of every connection of every client, and logs for each broker, once for the process, that it is out
/// of reach and that it is back. A broker is out of reach when no client has a connection to it and two
/// attempts in a row failed: one may be a client's that is being closed. Thread-safe; librdkafka calls it on
/// its own threads.
class broker_watch {
  public:
    /// `to` gets the lines; empty: the log does.
    explicit broker_watch(runtime::lasting_trouble::writer to = {}) : x_to(std::move(to)) {}

    /// A connection came to a new state, in librdkafka's words. `client` is only compared.
    void changed(const void* client, const std::string& broker, std::string_view state);
    /// What librdkafka says of a connection that broke or was not made: "[thrd:…]: host:port/…: …".
    void complained(std::string_view text);

  private:
    struct broker {
        broker(const std::string& address, const runtime::lasting_trouble::writer& to);
        std::set<const void*> connecting;  // clients
        std::set<const void*> connected;   // clients
        unsigned failures_in_a_row = 0;
        std::string complaint;  // the newest
        runtime::lasting_trouble trouble;
    };

    const runtime::lasting_trouble::writer x_to;
    runtime::mutex x_mutex;
    std::map<std::string, std::unique_ptr<broker>, std::less<>> x_brokers GUARDED_BY(x_mutex);
};

}  // namespace herald::events::log::kafka
