// Protects the destruction of a transport: what its timers have begun does not touch destroyed objects. The
// sanitizers check it.
#include "runtime/http/client/connection_pool.hpp"
#include "runtime/http/client/open_connections.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <chrono>

namespace herald::test {
namespace {

using namespace runtime::http::client;

TEST(connection_pool, that_ends_when_its_timer_is_due_already_is_not_touched_by_it) {
    boost::asio::io_context io;
    auto pool = std::make_shared<connection_pool>(io, 8, 30'000);
    const auto open = std::make_shared<open_connections>();
    pool->put("receiver", {}, std::make_shared<connection>(io, open->place("there")));
    EXPECT_EQ(open->count_to("there"), 1u);
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    boost::asio::posix::stream_descriptor reading(io, ends[0]);
    reading.async_wait(boost::asio::posix::stream_descriptor::wait_read, [&](boost::system::error_code ec) {
        EXPECT_FALSE(ec);
        pool->close();
        pool.reset();
    });
    // Both happen while the loop is busy: it finds them together, the descriptor first.
    io.poll();
    ASSERT_EQ(write(ends[1], "x", 1), 1);
    const auto due = std::chrono::steady_clock::now() + std::chrono::milliseconds(1'100);
    while (std::chrono::steady_clock::now() < due) continue;
    io.run_for(std::chrono::seconds(10));
    EXPECT_EQ(pool, nullptr);
    EXPECT_EQ(open->count(), 0u);
    EXPECT_EQ(open->count_to("there"), 0u);
    close(ends[1]);
}

}  // namespace
}  // namespace herald::test
