// Protects uploads and downloads from each other: nobody keeps the places of all.
#include "api/calls/transfer_places.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace herald::test {
namespace {

using api::calls::transfer_places;
using testing::HasSubstr;

constexpr schemas::user_id anna{1}, ben{2};

class places : public testing::Test {
  protected:
    transfer_places all{"uploads", {.of_node = 6, .of_user = 4, .of_url = 2}};
    std::vector<transfer_places::place> held;

    bool take(schemas::user_id user, std::string_view url) {
        auto place = all.take(user, url);
        if (!place) {
            refusal = place.error();
            return false;
        }
        held.push_back(*std::move(place));
        return true;
    }
    error refusal;
};

TEST_F(places, have_a_bound_for_each_url_each_user_and_the_node) {
    EXPECT_TRUE(take(anna, "1") && take(anna, "1"));
    EXPECT_FALSE(take(anna, "1"));
    EXPECT_EQ(refusal.code, error_code::unavailable);
    EXPECT_THAT(refusal.message, HasSubstr("2 uploads by this URL"));
    EXPECT_TRUE(take(anna, "2") && take(anna, "3"));
    EXPECT_FALSE(take(anna, "4"));
    EXPECT_THAT(refusal.message, HasSubstr("4 uploads of this user"));
    EXPECT_TRUE(take(ben, "5") && take(ben, "6"));
    EXPECT_FALSE(take(ben, "7"));
    EXPECT_THAT(refusal.message, HasSubstr("6 uploads on this node"));
}

TEST_F(places, are_free_again_when_they_are_released) {
    EXPECT_TRUE(take(anna, "1") && take(anna, "1"));
    held.pop_back();
    EXPECT_TRUE(take(anna, "1"));
    EXPECT_FALSE(take(anna, "1"));
    held.clear();
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(take(anna, std::to_string(i)));
}

TEST_F(places, are_looked_for_without_taking_one) {
    EXPECT_TRUE(take(anna, "1"));
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(all.check(anna, "1"));
    EXPECT_TRUE(take(anna, "1"));
    const auto full = all.check(anna, "1");
    ASSERT_FALSE(full);
    EXPECT_THAT(full.error().message, HasSubstr("2 uploads by this URL"));
}

TEST_F(places, that_were_refused_take_nothing) {
    EXPECT_TRUE(take(anna, "1") && take(anna, "1"));
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(take(anna, "1"));
    EXPECT_TRUE(take(anna, "2") && take(anna, "2"));
}

}  // namespace
}  // namespace herald::test
