// Real Kafka for tests: the broker that ctest shares among them, or one of the test's own that it may break.
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

/// One node or three. A test's own is wiped at the end; there is one at a time.
class broker {
  public:
    /// Null where no broker can be had: the test is then to be skipped. Throws when it does not start.
    /// `settings`: properties of the brokers, "name=value".
    static std::unique_ptr<broker> start_own(int nodes = 1, const std::vector<std::string>& settings = {});
    /// The one that ctest started; null when there is none. Broker tests run one at a time: it may be killed,
    /// not wiped.
    static std::unique_ptr<broker> shared();
    ~broker();

    std::string bootstrap() const;
    /// SIGKILL.
    void kill(int node = 1);
    /// SIGSTOP until go_on(): connections stay open and nobody answers.
    void hang();
    void go_on();
    /// Starts the nodes that do not run, with what they had.
    void start();
    /// Starts from nothing at the same address.
    void wipe_and_start();
    /// A log with a prefix of its own, so that tests on one broker do not meet; its topics are made, with a
    /// copy on each node.
    std::unique_ptr<events::log::kafka::kafka_log> new_log(std::string& prefix);
    /// Another client's log with that prefix; `replicas` 0: one for each node.
    std::unique_ptr<events::log::kafka::kafka_log> log_of(const std::string& prefix, int replicas = 0) const;

  private:
    broker(std::filesystem::path directory, int nodes, bool own)
        : x_directory(std::move(directory)), x_nodes(nodes), x_own(own) {}
    int run(const std::string& verb, const std::vector<std::string>& settings = {}) const;
    int pid_of(int node) const;

    std::filesystem::path x_directory;
    int x_nodes;
    bool x_own;
};

/// "topics[partition]" → its range, asked of the leader; throws when there is no answer.
events::log::offset_range range_of(events::log::partitioned_log&, const events::log::topic_partition&);

/// Appends one after another and waits for each acknowledgement; throws when there is none.
void append_all(events::log::partitioned_log&, const events::log::topic_partition&,
                const std::vector<std::string>& values);

}  // namespace herald::test
