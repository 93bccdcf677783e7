// Protects ids and simulations: the system's randomness does not repeat, the seeded one always does.
#include "runtime/random.hpp"
#include "tests/support/seeded_random.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

namespace herald::test {
namespace {

using namespace runtime;

TEST(system_random, never_gives_a_uuid_twice) {
    std::set<std::string> seen;
    for (int i = 0; i < 10'000; ++i) EXPECT_TRUE(seen.insert(uuid_text(system_random().uuid())).second);
}

TEST(system_random, differs_between_threads) {
    std::vector<std::string> drawn(8);
    std::vector<std::thread> threads;
    for (std::string& each : drawn) threads.emplace_back([&each] { each = system_random().bytes(32); });
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(std::set<std::string>(drawn.begin(), drawn.end()).size(), drawn.size());
}

TEST(system_random, fills_any_length) {
    for (const std::size_t bytes : {0u, 1u, 1023u, 1024u, 1025u, 4096u, 100'000u}) {
        const std::string drawn = system_random().bytes(bytes);
        ASSERT_EQ(drawn.size(), bytes);
        if (bytes >= 1023) EXPECT_EQ(std::set<char>(drawn.end() - 512, drawn.end()).size() > 100, true);
    }
}

TEST(seeded_random, gives_the_same_for_the_same_seed_on_every_machine) {
    test::seeded_random one(7), same(7), another(8);
    const std::string first = one.bytes(100);
    EXPECT_EQ(first, same.bytes(100));
    EXPECT_NE(first, another.bytes(100));
    test::seeded_random known(5489);  // the standard's test value: the 10,000th number of mt19937_64
    for (int i = 1; i < 10'000; ++i) known.number();
    EXPECT_EQ(known.number(), 9981545732273789042ull);
}

TEST(below, stays_below_and_reaches_everything) {
    test::seeded_random source(1);
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 1'000; ++i) seen.insert(source.below(7));
    EXPECT_EQ(seen, (std::set<std::uint64_t>{0, 1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(source.below(1), 0u);
}

TEST(uuid, says_its_version_and_variant) {
    for (int i = 0; i < 100; ++i) {
        const std::string text = uuid_text(system_random().uuid());
        ASSERT_EQ(text.size(), 36u);
        EXPECT_EQ(text[14], '4');
        EXPECT_NE(std::string("89ab").find(text[19]), std::string::npos) << text;
    }
    EXPECT_EQ(uuid_text({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255}),
              "00010203-0405-0607-0809-0a0b0c0d0eff");
}

TEST(parse_uuid, reads_what_is_written_and_nothing_else) {
    for (int i = 0; i < 100; ++i) {
        const auto id = system_random().uuid();
        EXPECT_EQ(parse_uuid(uuid_text(id)), id);
    }
    EXPECT_EQ(parse_uuid("00010203-0405-0607-0809-0A0B0c0d0eFF"),
              (std::array<std::uint8_t, 16>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255}));
    for (const char* wrong :
         {"", "1", "00010203-0405-0607-0809-0a0b0c0d0ef", "00010203-0405-0607-0809-0a0b0c0d0efff",
          "00010203-0405-0607-0809-0a0b0c0d0efg", "00010203-0405-0607-08090-a0b0c0d0eff",
          "000102030405060708090a0b0c0d0eff0000", "{0010203-0405-0607-0809-0a0b0c0d0ef}"})
        EXPECT_FALSE(parse_uuid(wrong)) << wrong;
}

}  // namespace
}  // namespace herald::test
