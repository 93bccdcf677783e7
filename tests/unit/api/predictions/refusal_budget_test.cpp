// Protects the log from strangers: an address has it asked for so many refusals in a second, and no more.
#include "api/predictions/refusal_budget.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace herald::test {
namespace {

using api::predictions::refusal_budget;

int taken(refusal_budget& from, std::string_view address, std::int64_t now_ms) {
    int count = 0;
    while (count < 1'000 && from.take(address, now_ms)) ++count;
    return count;
}

TEST(refusal_budget, gives_an_address_so_many_in_each_second) {
    const auto budget = std::make_unique<refusal_budget>();
    constexpr int most = limits::awaited_refusals_per_second;
    EXPECT_EQ(taken(*budget, "192.0.2.1", 1'000), most);
    EXPECT_EQ(taken(*budget, "192.0.2.1", 1'999), 0);
    EXPECT_EQ(taken(*budget, "192.0.2.1", 2'000), most);
    EXPECT_EQ(taken(*budget, "192.0.2.1", 3'600'000), most);
}

TEST(refusal_budget, of_one_address_is_not_used_up_by_most_others) {
    const auto budget = std::make_unique<refusal_budget>();
    taken(*budget, "192.0.2.1", 1'000);
    int others = 0;
    for (int i = 0; i < 200; ++i) others += budget->take("198.51.100." + std::to_string(i), 1'000) ? 1 : 0;
    EXPECT_GT(others, 190);
}

}  // namespace
}  // namespace herald::test
