// Protects what is sealed in the log: it opens only for its own row, and a minted secret is the same on every
// node.
#include "runtime/key_ring.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "runtime/crypto.hpp"
#include "tests/support/seeded_random.hpp"

namespace herald::test {
namespace {

using namespace runtime;

const key_ring ring = key_ring::of("k1", std::string(seal_key_bytes, 'k'));
const key_ring other = key_ring::of("k1", std::string(seal_key_bytes, 'o'));

TEST(key_ring, opens_what_it_sealed_for_the_same_row_only) {
    test::seeded_random random(1);
    const std::string sealed = ring.seal("webhook 7", "a secret", random);
    EXPECT_TRUE(sealed.starts_with("k1"));
    EXPECT_EQ(sealed.find("a secret"), std::string::npos);
    EXPECT_EQ(*ring.unseal("webhook 7", sealed), "a secret");
    EXPECT_EQ(ring.unseal("webhook 8", sealed).error().code, error_code::invalid_argument);
    EXPECT_EQ(other.unseal("webhook 7", sealed).error().code, error_code::invalid_argument);
    EXPECT_EQ(ring.unseal("webhook 7", "").error().code, error_code::invalid_argument);
    EXPECT_EQ(ring.unseal("webhook 7", std::string("k9\0rest", 7)).error().code,
              error_code::failed_precondition);
}

TEST(key_ring, seals_the_same_text_differently_each_time) {
    test::seeded_random random(1);
    EXPECT_NE(ring.seal("row", "a secret", random), ring.seal("row", "a secret", random));
}

TEST(key_ring, mints_the_same_secret_for_the_same_three) {
    const std::string secret = *ring.mint("k1", "command", "purpose");
    EXPECT_EQ(secret, *ring.mint("k1", "command", "purpose"));
    EXPECT_EQ(secret.size(), 43u);
    EXPECT_EQ(secret.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
              secret.npos);
    EXPECT_NE(secret, *ring.mint("k1", "command", "other"));
    EXPECT_NE(secret, *ring.mint("k1", "another", "purpose"));
    EXPECT_NE(secret, *other.mint("k1", "command", "purpose"));
    EXPECT_EQ(ring.mint("k2", "command", "purpose").error().code, error_code::failed_precondition);
}

TEST(key_ring, is_told_from_another_by_its_check_value) {
    EXPECT_EQ(ring.check_value(), key_ring::of("renamed", std::string(seal_key_bytes, 'k')).check_value());
    EXPECT_NE(ring.check_value(), other.check_value());
}

}  // namespace
}  // namespace herald::test
