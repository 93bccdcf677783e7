// Protects places and memory from peers that send or read a streamed body as slowly as they can: bytes that
// came fast buy no standstill.
#include "runtime/http/server/stream_pace.hpp"

#include <gtest/gtest.h>

#include "runtime/http/server/server.hpp"

namespace herald::test {
namespace {

using namespace runtime::http::server;

connection_limits stream_limits() {
    connection_limits bounds;
    bounds.stream_bytes_per_second = 1'000;
    bounds.stream_window_ms = 10'000;
    bounds.piece_ms = 4'000;
    return bounds;
}

TEST(stream_pace, one_piece_may_take_only_so_long) {
    stream_pace pace(stream_limits());
    EXPECT_EQ(pace.ms_left(), 4'000);
}

TEST(stream_pace, time_runs_out_while_the_peer_is_waited_for_and_comes_back_with_its_bytes) {
    stream_pace pace(stream_limits());
    pace.waited(8'000, 0);
    EXPECT_EQ(pace.ms_left(), 2'000);
    pace.waited(0, 1'500);
    EXPECT_EQ(pace.ms_left(), 3'500);
    pace.waited(3'500, 0);
    EXPECT_EQ(pace.ms_left(), 0);
    pace.waited(1'000, 0);
    EXPECT_EQ(pace.ms_left(), 0);
}

TEST(stream_pace, what_came_fast_does_not_excuse_a_standstill_later) {
    stream_pace pace(stream_limits());
    pace.waited(0, 1'000'000'000);
    std::int64_t stood_ms = 0;
    for (; pace.ms_left() > 0 && stood_ms < 20'000; stood_ms += 1'000) pace.waited(1'000, 1);
    EXPECT_LE(stood_ms, 11'000) << "a byte now and then must not be enough";
    EXPECT_GE(stood_ms, 10'000);
}

TEST(stream_pace, who_is_as_fast_as_the_floor_goes_on_for_ever) {
    stream_pace pace(stream_limits());
    for (int i = 0; i < 100'000; ++i) pace.waited(1'000, 1'000);
    EXPECT_EQ(pace.ms_left(), 4'000);
}

TEST(stream_pace, begins_anew) {
    stream_pace pace(stream_limits());
    pace.waited(60'000, 0);
    pace.begin();
    EXPECT_EQ(pace.ms_left(), 4'000);
}

}  // namespace
}  // namespace herald::test
