// One suite of tests for every log (events/log/log.hpp): in memory, embedded, Kafka.
//
//     INSTANTIATE_TEST_SUITE_P(embedded, log_suite, ::testing::Values(log_factory{"embedded", make}),
//     log_name);
//
// A log may hold records of other tests and be used by several in turn: each test uses its own keys and reads
// from the end as it finds it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "events/log/log.hpp"

namespace herald::test {

/// A log to test. Everything opened from it is destroyed before its other functions and its destructor are
/// called.
class log_fixture {
  public:
    virtual ~log_fixture() = default;
    virtual events::log::partitioned_log& log() = 0;
    /// Closes the log and opens it again: everything is kept. False: not supported by this log.
    virtual bool restart() = 0;
    /// As if its process (the broker's, if it has one) had been killed; then opens it again: everything
    /// acknowledged is kept. False: not supported by this log.
    virtual bool hard_stop() = 0;
    /// Compacts `subscribers` now, whatever the records' age. False: not supported by this log.
    virtual bool compact() = 0;
};

/// `make` returns an error when the log is not available here (no broker): the tests are then skipped.
struct log_factory {
    std::string name;
    std::function<result<std::unique_ptr<log_fixture>>()> make;

    friend std::ostream& operator<<(std::ostream& out, const log_factory& factory) {
        return out << factory.name;
    }
};

/// For INSTANTIATE_TEST_SUITE_P's last argument: test cases are named after the log.
std::string log_name(const ::testing::TestParamInfo<log_factory>&);

class log_suite : public ::testing::TestWithParam<log_factory> {
  protected:
    void SetUp() override;

    events::log::partitioned_log& log() { return x_fixture->log(); }
    /// Prefix of the keys of this test's records; no other test uses it.
    const std::string& mark() const { return x_mark; }

    std::unique_ptr<log_fixture> x_fixture;

  private:
    std::string x_mark;
};

}  // namespace herald::test
