// Protects developer keys and sessions: each opens something until it is removed or has ended, and nothing
// after (wire.md §2).
#include <gmock/gmock.h>

#include "tests/unit/storage/registry/identity.hpp"

namespace herald::test {
namespace {

using namespace schemas::commands;
using namespace storage::registry;

TEST_F(identity, a_key_counts_until_it_is_removed_and_there_are_two) {
    done(add_key{plain, "k1", hash_of("second")});
    EXPECT_TRUE(knows("b@example.org", "second"));
    EXPECT_EQ(code_of(registry.run(add_key{plain, "k1", hash_of("third")})), error_code::failed_precondition);
    done(remove_key{plain, false});
    EXPECT_FALSE(knows("b@example.org", std::string(admin_key)));
    EXPECT_TRUE(knows("b@example.org", "second"));
}

TEST_F(identity, a_session_is_a_key_that_ends_by_itself) {
    done(create_session{plain, "nightly", 60, "k1", hash_of("first")});
    EXPECT_TRUE(knows("b@example.org", "first"));
    EXPECT_FALSE(knows(std::string(admin_email), "first"));
    done(create_session{plain, "nightly", 60, "k1", hash_of("next")});
    EXPECT_FALSE(knows("b@example.org", "first")) << "replaced by one of the same name";
    registry.now_ms += 59'000;
    done(no_operation{});
    EXPECT_TRUE(knows("b@example.org", "next"));
    registry.now_ms += 1'000;
    done(no_operation{});
    EXPECT_FALSE(knows("b@example.org", "next"));
}

TEST_F(identity, a_session_makes_nothing_that_outlives_it) {
    done(create_session{plain, "nightly", 60, "k1", hash_of("session")});
    const auto by_session = [&](const auto& command) { return code_of(with_key("session", plain, command)); };
    EXPECT_EQ(by_session(add_key{{}, "k1", hash_of("for ever")}), error_code::permission_denied);
    EXPECT_EQ(by_session(create_session{{}, "next", 60, "k1", hash_of("next")}),
              error_code::permission_denied);
    EXPECT_FALSE(knows("b@example.org", "for ever"));
    EXPECT_FALSE(knows("b@example.org", "next"));
}

TEST_F(identity, a_session_ends_with_the_key_that_made_it) {
    done(add_key{plain, "k1", hash_of("second")});
    ASSERT_EQ(with_key("second", plain, create_session{{}, "of it", 60, "k1", hash_of("of it")}).code, 0u);
    done(create_session{plain, "of another", 60, "k1", hash_of("of another")});
    EXPECT_TRUE(knows("b@example.org", "of it"));
    done(remove_key{plain, true});
    EXPECT_FALSE(knows("b@example.org", "of it"));
    EXPECT_TRUE(knows("b@example.org", "of another"));
    EXPECT_THAT(sessions_seen_by(plain), testing::ElementsAre("of another"));
}

TEST_F(identity, a_session_that_an_administrator_made_ends_with_their_key) {
    const user_id administrator{1};
    done(add_key{administrator, "k1", hash_of("second")});
    ASSERT_EQ(
        with_key("second", administrator, create_session{plain, "nightly", 60, "k1", hash_of("session")})
            .code,
        0u);
    EXPECT_TRUE(knows("b@example.org", "session"));
    done(remove_key{administrator, true});
    EXPECT_FALSE(knows("b@example.org", "session"));
}

TEST_F(identity, sessions_end_with_the_last_key_and_with_a_renewed_one) {
    done(add_key{plain, "k1", hash_of("second")});
    done(create_session{plain, "nightly", 60, "k1", hash_of("session")});
    done(remove_key{plain, true});
    EXPECT_TRUE(knows("b@example.org", "session")) << "a key is left";
    done(remove_key{plain, false});
    EXPECT_FALSE(knows("b@example.org", "session"));
    done(create_session{{}, "nightly", 60, "k1", hash_of("the administrator's")});
    EXPECT_TRUE(knows(std::string(admin_email), "the administrator's"));
    done(renew_admin_key{std::string(admin_email), hash_of("renewed")});
    EXPECT_FALSE(knows(std::string(admin_email), "the administrator's"));
    EXPECT_TRUE(knows(std::string(admin_email), "renewed"));
}

}  // namespace
}  // namespace herald::test
