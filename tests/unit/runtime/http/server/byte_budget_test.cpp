// Protects the process's memory: all holders together never exceed the budget.
#include "runtime/http/server/byte_budget.hpp"

#include <gtest/gtest.h>

namespace herald::test {
namespace {

using namespace runtime::http::server;

TEST(byte_budget, grants_what_is_left_and_takes_back_what_is_not_held_any_more) {
    byte_budget budget(100);
    byte_budget::share first(budget);
    EXPECT_TRUE(first.resize(60));
    {
        byte_budget::share second(budget);
        EXPECT_FALSE(second.resize(41));
        EXPECT_TRUE(second.resize(40));
        EXPECT_FALSE(first.resize(61));
        EXPECT_TRUE(first.resize(10));
        EXPECT_TRUE(second.resize(90));
    }
    EXPECT_TRUE(first.resize(100));
    EXPECT_FALSE(first.resize(101));
}

}  // namespace
}  // namespace herald::test
