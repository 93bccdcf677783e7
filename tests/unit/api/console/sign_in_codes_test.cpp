// Protects codes for the console: each is good for one sign-in, for ten minutes, and there are never many.
#include "api/console/sign_in_codes.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "api/console/limits.hpp"
#include "tests/support/seeded_random.hpp"

namespace herald::test {
namespace {

struct sign_in_codes : ::testing::Test {
    seeded_random random{7};
    runtime::manual_clock clock;
    api::console::sign_in_codes codes{random, clock};
};

TEST_F(sign_in_codes, are_good_once_and_say_whose_they_are) {
    const auto made = codes.make({"ada@example.org", "hash"});
    EXPECT_EQ(made.text.size(), 64u);
    EXPECT_EQ(made.time_expires, clock.wall_ms() + limits::sign_in_code_ms_max);
    EXPECT_FALSE(codes.take("another"));
    const auto taken = codes.take(made.text);
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->email, "ada@example.org");
    EXPECT_EQ(taken->credential_hash, "hash");
    EXPECT_FALSE(codes.take(made.text));
}

TEST_F(sign_in_codes, end_after_ten_minutes_whatever_the_wall_clock_says) {
    const auto made = codes.make({});
    clock.jump_wall_ms(limits::sign_in_code_ms_max);
    clock.advance_ms(limits::sign_in_code_ms_max - 1);
    const auto younger = codes.make({});
    clock.advance_ms(1);
    EXPECT_FALSE(codes.take(made.text));
    EXPECT_TRUE(codes.take(younger.text));
}

TEST_F(sign_in_codes, take_the_place_of_the_oldest_when_there_are_many) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i <= limits::sign_in_codes_max; ++i) {
        clock.advance_ms(1);
        all.push_back(codes.make({}).text);
    }
    EXPECT_FALSE(codes.take(all.front()));
    for (std::size_t i = 1; i < all.size(); ++i) EXPECT_TRUE(codes.take(all[i])) << i;
}

}  // namespace
}  // namespace herald::test
