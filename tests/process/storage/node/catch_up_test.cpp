// Protects a start from the log on a real database: two threads beside the one that applies, access memory
// shared with it, and the same hash as one record after the other.
#include <gtest/gtest.h>

#include "runtime/clock.hpp"
#include "storage/node/replica.hpp"
#include "storage/rocks/rocks_state.hpp"
#include "tests/support/busy_log.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/prepared_log.hpp"

namespace herald::test {
namespace {

using namespace storage::node;

TEST(catch_up_on_rocks, comes_to_what_one_record_after_the_other_comes_to) {
    const temporary_folder folder;
    const auto state = storage::rocks::open_rocks_state(folder / "state");
    ASSERT_TRUE(state) << state.error().message;
    const busy_log log = make_busy_log(6'000);
    prepared_log records(log.records);
    std::vector<std::uint32_t> outcomes;
    replica all(
        records, *state->store, runtime::system_clock(), "a",
        {[&](storage::registry::engine::applied_record& record) { outcomes.push_back(record.outcome.code); },
         [](const written_tables&) {},
         {},
         {}});
    while (outcomes.size() < log.records.size())
        ASSERT_TRUE(std::holds_alternative<replica::progress>(all.advance(0)));
    EXPECT_EQ(outcomes, log.outcomes);
    EXPECT_EQ(all.newest()->position.hash, log.hash);
}

}  // namespace
}  // namespace herald::test
