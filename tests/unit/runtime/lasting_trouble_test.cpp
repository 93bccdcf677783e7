// Protects operators: of a trouble that lasts the log says when it begins, once a minute that it lasts, and
// when it is over, however often it is met.
#include "runtime/lasting_trouble.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace herald::test {
namespace {

using namespace runtime;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class lasting_trouble_test : public ::testing::Test {
  protected:
    std::vector<std::string> said() { return std::exchange(x_lines, {}); }

    manual_clock time;
    lasting_trouble trouble{{.event = "away", .over = "back", .fields = {{"broker", "b:1"}}},
                            time,
                            [this](log_level, std::string_view event, std::span<const log_field> fields) {
                                std::string line(event);
                                for (const log_field& each : fields) {
                                    if (each.name == "since") continue;
                                    line += " " + std::string(each.name) + "=";
                                    if (const auto* text = std::get_if<std::string_view>(&each.value))
                                        line += *text;
                                    if (const auto* number = std::get_if<std::int64_t>(&each.value))
                                        line += std::to_string(*number);
                                }
                                x_lines.push_back(line);
                            }};

  private:
    std::vector<std::string> x_lines;
};

TEST_F(lasting_trouble_test, of_twenty_five_seconds_says_that_it_began_and_that_it_is_over) {
    for (int tenth = 0; tenth < 250; ++tenth) {
        trouble.fails("refused");
        time.advance_ms(100);
    }
    EXPECT_THAT(said(), ElementsAre("away broker=b:1 reason=refused seconds=0"));
    trouble.works();
    trouble.works();
    EXPECT_THAT(said(), ElementsAre("back broker=b:1 seconds=25"));
}

TEST_F(lasting_trouble_test, that_goes_on_says_so_once_a_minute_with_its_newest_reason) {
    for (int second = 0; second < 150; ++second) {
        trouble.fails("reason " + std::to_string(second));
        time.advance_ms(1'000);
    }
    EXPECT_THAT(said(), ElementsAre("away broker=b:1 reason=reason 0 seconds=0",
                                    "away broker=b:1 reason=reason 60 seconds=60",
                                    "away broker=b:1 reason=reason 120 seconds=120"));
}

TEST_F(lasting_trouble_test, is_over_only_when_every_part_works) {
    trouble.fails("refused", "partition 1");
    trouble.fails("refused", "partition 2");
    EXPECT_THAT(said(), ElementsAre(HasSubstr("away")));
    trouble.works("partition 2");
    trouble.works("partition 3");
    EXPECT_THAT(said(), IsEmpty());
    trouble.works("partition 1");
    EXPECT_THAT(said(), ElementsAre(HasSubstr("back")));
}

TEST_F(lasting_trouble_test, that_comes_and_goes_fills_no_log) {
    std::size_t lines = 0;
    for (int tenth = 0; tenth < 600; ++tenth) {
        trouble.fails("refused");
        trouble.works();
        time.advance_ms(100);
        lines += said().size();
    }
    EXPECT_GE(lines, 2u);
    EXPECT_LE(lines, 2u * 60'000 / lasting_trouble::beginning_interval_ms);
}

TEST_F(lasting_trouble_test, that_follows_soon_after_another_is_told_once_it_has_lasted) {
    trouble.fails("refused");
    trouble.works();
    EXPECT_THAT(said(), ElementsAre(HasSubstr("away"), HasSubstr("back")));
    time.advance_ms(1'000);
    for (int second = 0; second < 20; ++second) {
        trouble.fails("refused again");
        time.advance_ms(1'000);
    }
    EXPECT_THAT(said(), ElementsAre("away broker=b:1 reason=refused again seconds=9"));
}

TEST_F(lasting_trouble_test, says_nothing_while_all_works) {
    trouble.works();
    trouble.works("part");
    EXPECT_THAT(said(), IsEmpty());
}

}  // namespace
}  // namespace herald::test
