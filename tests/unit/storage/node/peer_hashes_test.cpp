// Protects the comparison of states: what a node concludes from the hashes in other nodes' heartbeats.
#include "storage/node/peer_hashes.hpp"

#include <gtest/gtest.h>

#include "runtime/crypto.hpp"
#include "schemas/commands/limits.hpp"
#include "storage/node/limits.hpp"

namespace herald::test {
namespace {

using namespace storage;
using namespace storage::node;
using namespace storage::registry::engine;

std::string hash_of(const std::string& text) {
    const auto digest = runtime::sha256(text);
    return std::string(runtime::as_bytes(digest));
}

/// The hashes of record `offset` in the log `log` and of the state `state` after it.
engine_position at(std::uint64_t offset, const std::string& log = "log", const std::string& state = "state") {
    engine_position position;
    position.next_offset = offset + 1;
    position.last_record_offset = offset;
    position.last_record_hash = hash_of(log + std::to_string(offset));
    position.hash = hash_of(state + std::to_string(offset));
    return position;
}

schemas::commands::node_heartbeat beat(const std::string& node, const engine_position& newest,
                                       bool vouches = false) {
    schemas::commands::node_heartbeat said;
    said.vouches = vouches;
    said.node = node;
    said.applied_offset = newest.last_record_offset;
    said.record_hash = newest.last_record_hash;
    said.state_hash = newest.hash;
    return said;
}

class peer_hashes_test : public ::testing::Test {
  protected:
    peer_hashes_test() {
        for (std::uint64_t offset = 10; offset <= 100; ++offset) x_ring.add(at(offset));
    }
    void hear(const std::string& node, const engine_position& newest, std::int64_t time_ms = 0,
              bool vouches = false) {
        x_peers.hear(beat(node, newest, vouches), newest.last_record_offset + 1, time_ms, x_ring);
    }

    record_ring x_ring;
    peer_hashes x_peers{"a"};
};

TEST_F(peer_hashes_test, one_that_says_the_same_agrees) {
    hear("b", at(99));
    EXPECT_EQ(x_peers.votes(), (hash_votes{2, 0, 0}));
    EXPECT_FALSE(x_peers.is_in_doubt());
    EXPECT_TRUE(x_peers.has_compared("b"));
}

TEST_F(peer_hashes_test, another_state_counts_once_both_nodes_have_read_the_log_again) {
    hear("b", at(99, "log", "other"));
    EXPECT_TRUE(x_peers.is_in_doubt());
    EXPECT_FALSE(x_peers.vouches());
    x_peers.records_are_the_logs();
    EXPECT_FALSE(x_peers.is_in_doubt());
    EXPECT_TRUE(x_peers.vouches());
    EXPECT_FALSE(x_peers.has_compared("b"));
    EXPECT_EQ(x_peers.votes(), hash_votes{}) << "the other may find out that its log is another";
    hear("b", at(100, "log", "other"), 0, true);
    EXPECT_FALSE(x_peers.is_in_doubt()) << "that is no news";
    EXPECT_TRUE(x_peers.has_compared("b"));
    EXPECT_EQ(x_peers.votes(), (hash_votes{1, 1, 100}));
    x_peers.doubt();
    EXPECT_TRUE(x_peers.is_in_doubt());
    EXPECT_EQ(x_peers.votes(), hash_votes{});
}

TEST_F(peer_hashes_test, who_holds_other_records_than_the_log_has_no_vote) {
    hear("b", at(99, "other log", "other"));
    EXPECT_TRUE(x_peers.is_in_doubt());
    x_peers.records_are_the_logs();
    EXPECT_EQ(x_peers.votes(), hash_votes{});
    hear("b", at(99));
    EXPECT_EQ(x_peers.votes(), (hash_votes{2, 0, 0}));
}

TEST_F(peer_hashes_test, who_has_applied_more_than_lay_before_its_heartbeat_holds_another_log) {
    x_peers.hear(beat("b", at(99)), 99, 0, x_ring);
    EXPECT_TRUE(x_peers.is_in_doubt());
}

TEST_F(peer_hashes_test, what_is_no_longer_remembered_says_nothing) {
    hear("b", at(9));
    EXPECT_FALSE(x_peers.is_in_doubt());
    EXPECT_FALSE(x_peers.has_compared("b"));
    EXPECT_EQ(x_peers.votes(), hash_votes{});
}

TEST_F(peer_hashes_test, the_silent_the_departed_and_the_node_itself_do_not_count) {
    hear("b", at(99), 0);
    hear("c", at(99), 5'000);
    hear("a", at(99, "log", "other"), limits::claim_lapse_ms + 1);
    EXPECT_EQ(x_peers.votes(), (hash_votes{2, 0, 0})) << "b is silent";
    schemas::commands::node_heartbeat last = beat("c", at(99));
    last.last = true;
    x_peers.hear(last, 100, limits::claim_lapse_ms + 1, x_ring);
    EXPECT_EQ(x_peers.votes(), hash_votes{});
}

TEST(record_ring_test, remembers_the_newest_and_forgets_the_rest) {
    record_ring ring;
    EXPECT_TRUE(ring.is_empty());
    const std::uint64_t count = limits::records_remembered_max + 5;
    for (std::uint64_t offset = 0; offset < count; ++offset)
        if (offset != 7) ring.add(at(offset));
    EXPECT_EQ(ring.oldest(), 5u);
    EXPECT_EQ(ring.find(4), nullptr);
    EXPECT_EQ(ring.find(7), nullptr) << "a hole in the log";
    EXPECT_EQ(ring.first_from(7), 8u);
    ASSERT_NE(ring.find(count - 1), nullptr);
    EXPECT_EQ(runtime::as_bytes(ring.find(count - 1)->state_hash), at(count - 1).hash);
    EXPECT_EQ(ring.find(count), nullptr);
}

}  // namespace
}  // namespace herald::test
