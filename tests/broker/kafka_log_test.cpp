// Protects the guarantees of events/log/log.hpp on a real Kafka, with the suite that every log passes.
#include "tests/broker/broker.hpp"
#include "tests/support/log_suite.hpp"

namespace herald::test {
namespace {

class kafka_fixture final : public log_fixture {
  public:
    explicit kafka_fixture(std::unique_ptr<broker> from) : x_broker(std::move(from)), x_log(open()) {}

    events::log::partitioned_log& log() override { return *x_log; }

    bool restart() override {
        x_log.reset();
        x_log = open();
        return true;
    }

    bool hard_stop() override {
        x_broker->kill();
        x_broker->start();
        return true;
    }

    /// A broker compacts when it chooses to, at the earliest when its segment is full.
    bool compact() override { return false; }

  private:
    std::unique_ptr<events::log::partitioned_log> open() const { return x_broker->log_of("suite."); }

    std::unique_ptr<broker> x_broker;
    std::unique_ptr<events::log::partitioned_log> x_log;
};

result<std::unique_ptr<log_fixture>> make() {
    std::unique_ptr<broker> shared = broker::shared();
    if (shared == nullptr) return runtime::unavailable("no broker; ctest starts one where it can be had");
    shared->start();  // an earlier test may have died while the broker was down
    return std::make_unique<kafka_fixture>(std::move(shared));
}

INSTANTIATE_TEST_SUITE_P(kafka, log_suite, ::testing::Values(log_factory{"kafka", make}), log_name);

}  // namespace
}  // namespace herald::test
