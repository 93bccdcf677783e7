// Real Kafka for tests: the broker that ctest shares among them, or a separate one that a test may break.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "events/log/kafka/kafka_log.hpp"
#include "tests/support/until.hpp"

namespace herald::test {

/// One node or three. A test's own broker is wiped at the end; there is only one at a time.
class broker {
  public:
    /// Null when no broker is available: the test must then be skipped. Throws when it does not start.
    /// `settings`: broker properties, "name=value".
    static std::unique_ptr<broker> start_own(int nodes = 1, const std::vector<std::string>& settings = {});
    /// The broker that ctest started; null when there is none. Broker tests run one at a time: they may kill
    /// it but not wipe it.
    static std::unique_ptr<broker> shared();
    ~broker();

    std::string bootstrap() const;
    /// SIGKILL.
    void kill(int node = 1);
    /// SIGSTOP until go_on(): connections stay open but nobody answers.
    void hang();
    void go_on();
    /// Starts the nodes that are not running, with their old data.
    void start();
    /// Starts with empty data at the same address.
    void wipe_and_start();
    /// A log with a prefix of its own, so that tests on one broker do not interfere; its topics are created,
    /// with a copy on each node.
    std::unique_ptr<events::log::kafka::kafka_log> new_log(std::string& prefix);
    /// Another client's log with that prefix; `replicas` 0: one for each node. Its members have this name.
    std::unique_ptr<events::log::kafka::kafka_log> log_of(const std::string& prefix, int replicas = 0,
                                                          const std::string& member_name = {}) const;

  private:
    broker(std::filesystem::path directory, int nodes, bool own)
        : x_directory(std::move(directory)), x_nodes(nodes), x_own(own) {}
    int run(const std::string& verb, const std::vector<std::string>& settings = {}) const;
    int pid_of(int node) const;

    std::filesystem::path x_directory;
    int x_nodes;
    bool x_own;
};

/// The range of "topics[partition]", from the leader; throws when there is no answer.
events::log::offset_range range_or_throw(events::log::partitioned_log&, const events::log::topic_partition&);

/// Appends one by one and waits for each acknowledgement; throws when there is none.
void append_all(events::log::partitioned_log&, const events::log::topic_partition&,
                const std::vector<std::string>& values);

}  // namespace herald::test
