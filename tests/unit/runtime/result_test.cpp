// Protects every function that can fail: a result holds its value or its error, whichever it was given last,
// and lets go of each once.
#include "runtime/result.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "runtime/error.hpp"

namespace herald::test {
namespace {

using runtime::not_found;
using counted = std::shared_ptr<int>;  // its count shows what is kept

TEST(result, is_made_of_a_value_or_of_an_error) {
    const result<std::string> value = "text";
    ASSERT_TRUE(value && value.has_value() && !value.has_error());
    EXPECT_EQ(*value, "text");
    EXPECT_EQ(value->size(), 4u);
    EXPECT_EQ(value.error(), error());
    const result<std::string> failed = not_found("nothing here");
    ASSERT_TRUE(!failed && failed.has_error());
    EXPECT_EQ(failed.error(), not_found("nothing here"));
    EXPECT_EQ(*result<std::string>(), "");
}

TEST(result, that_holds_an_error_is_not_taken_for_a_value) {
    const result<int> failed = not_found("nothing here");
    EXPECT_THROW(failed.value(), std::logic_error);
    EXPECT_DEATH((void)*failed, "x_has_value");
    EXPECT_THROW(result<void>(not_found("nothing here")).value(), std::logic_error);
    EXPECT_NO_THROW(result<void>().value());
}

TEST(result, keeps_what_it_was_given_last_and_lets_go_of_the_rest) {
    const counted one = std::make_shared<int>(1), two = std::make_shared<int>(2);
    {
        result<counted> changing = one;
        const result<counted> copy = changing;
        EXPECT_EQ(one.use_count(), 3);
        changing = two;
        EXPECT_EQ(one.use_count(), 2);
        changing = not_found("gone");
        EXPECT_EQ(two.use_count(), 1);
        changing = copy;
        EXPECT_EQ(one.use_count(), 3);
        changing = *&changing;
        EXPECT_EQ(**changing, 1);
        const result<counted> moved = std::move(changing);
        EXPECT_EQ(one.use_count(), 3);
        EXPECT_EQ(**moved, 1);
    }
    EXPECT_EQ(one.use_count(), 1);
}

TEST(result, of_what_cannot_be_copied_is_moved) {
    result<std::unique_ptr<int>> owner = std::make_unique<int>(7);
    static_assert(!std::is_copy_constructible_v<decltype(owner)>);
    const std::unique_ptr<int> taken = *std::move(owner);
    EXPECT_EQ(*taken, 7);
}

}  // namespace
}  // namespace herald::test
