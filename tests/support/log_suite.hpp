// One suite of tests for every log (events/log/log.hpp): in memory, embedded, Kafka.
//
//     INSTANTIATE_TEST_SUITE_P(embedded, log_suite, ::testing::Values(log_factory{"embedded", make}),
//     log_name);
//
// A log may hold records of other tests and be used by several in turn: each test has keys of its own and
// reads from the end it finds.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "events/log/log.hpp"

namespace herald::test {

/// A log to test. What was opened from it is gone before its other functions and its destructor are called.
class log_fixture {
  public:
    virtual ~log_fixture() = default;
    virtual events::log::partitioned_log& log() = 0;
    /// Closes the log and opens it again: everything is kept. False: this log cannot.
    virtual bool restart() = 0;
    /// As if its process (the broker's, where it has one) had been killed, then opens it again: everything
    /// acknowledged is kept. False: this log cannot.
    virtual bool hard_stop() = 0;
    /// Compacts `subscribers` now, whatever the records' age. False: this log cannot be made to.
    virtual bool compact() = 0;
};

/// `make` answers an error when the log cannot be had here (no broker): the tests are then skipped.
struct log_factory {
    std::string name;
    std::function<result<std::unique_ptr<log_fixture>>()> make;

    friend std::ostream& operator<<(std::ostream& out, const log_factory& factory) {
        return out << factory.name;
    }
};

/// For INSTANTIATE_TEST_SUITE_P's last argument: cases are called by the log's name. (Calling it is also what
/// makes the linker take the suite out of its library.)
std::string log_name(const ::testing::TestParamInfo<log_factory>&);

class log_suite : public ::testing::TestWithParam<log_factory> {
  protected:
    void SetUp() override;

    events::log::partitioned_log& log() { return x_fixture->log(); }
    /// Starts the keys of this test's records; no other test has it.
    const std::string& mark() const { return x_mark; }

    std::unique_ptr<log_fixture> x_fixture;

  private:
    std::string x_mark;
};

}  // namespace herald::test
