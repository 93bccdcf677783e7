// Protects authenticated callers from strangers: when a bound is reached, strangers push out each other, and
// clients from elsewhere find room.
#include "runtime/http/server/places.hpp"
#include "runtime/http/limits.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <string>

namespace herald::test {
namespace {

using namespace runtime::http::server;

// A connection with a place: it was asked to leave once its socket reads the end.
struct connected {
    connected(connection_places& all, const std::string& address) {
        std::array<int, 2> both{};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, both.data()), 0);
        socket = both[0];
        peer = both[1];
        place = all.take(address, socket);
    }
    ~connected() {
        place.reset();
        ::close(socket);
        ::close(peer);
    }
    connected(const connected&) = delete;
    connected& operator=(const connected&) = delete;
    bool was_asked_to_leave() const {
        char byte = 0;
        return ::recv(socket, &byte, 1, MSG_DONTWAIT) == 0;
    }

    int socket = -1;
    int peer = -1;
    std::unique_ptr<connection_places::place> place;
};

connection_limits bounds(std::size_t connections, std::size_t per_address) {
    connection_limits out;
    out.connections = connections;
    out.connections_per_address = per_address;
    return out;
}

TEST(connection_places, the_oldest_stranger_of_the_address_that_has_most_goes_first) {
    const connection_limits limits = bounds(5, 5);
    connection_places places(limits);
    connected other(places, "b"), first(places, "a"), second(places, "a"), third(places, "a"),
        last(places, "c");
    connected next(places, "d");
    ASSERT_TRUE(next.place);
    EXPECT_TRUE(first.was_asked_to_leave());
    EXPECT_FALSE(other.was_asked_to_leave());
    EXPECT_FALSE(second.was_asked_to_leave());
    connected again(places, "d");
    EXPECT_TRUE(second.was_asked_to_leave()) << "two of a, one of each other";
    EXPECT_FALSE(next.was_asked_to_leave());
    connected one_each(places, "e");
    EXPECT_TRUE(next.was_asked_to_leave()) << "two of d, one of each other, though that of b is older";
    connected oldest(places, "f");
    EXPECT_TRUE(other.was_asked_to_leave()) << "one of each: the oldest of all";
}

TEST(connection_places, who_is_known_never_leaves) {
    const connection_limits limits = bounds(3, 3);
    connection_places places(limits);
    connected known(places, "a"), stranger(places, "a"), also_known(places, "b");
    known.place->is_known = true;
    also_known.place->is_known = true;
    connected next(places, "c");
    EXPECT_TRUE(stranger.was_asked_to_leave());
    next.place->is_known = true;
    connected refused(places, "d");
    EXPECT_FALSE(refused.place);
    EXPECT_FALSE(known.was_asked_to_leave());
    EXPECT_FALSE(also_known.was_asked_to_leave());
    EXPECT_FALSE(next.was_asked_to_leave());
}

TEST(connection_places, an_address_at_its_own_bound_pushes_out_only_its_own) {
    const connection_limits limits = bounds(10, 2);
    connection_places places(limits);
    connected other(places, "b"), first(places, "a"), second(places, "a"), third(places, "a");
    EXPECT_TRUE(third.place);
    EXPECT_TRUE(first.was_asked_to_leave());
    EXPECT_FALSE(other.was_asked_to_leave());
    second.place->is_known = third.place->is_known = true;
    EXPECT_FALSE(connected(places, "a").place);
    EXPECT_FALSE(other.was_asked_to_leave());
    EXPECT_TRUE(connected(places, "c").place);
}

TEST(connection_places, are_crowded_while_many_are_on_their_way_out) {
    const connection_limits limits = bounds(limits::connections_leaving_max, limits::connections_leaving_max);
    connection_places places(limits);
    std::deque<connected> all;
    for (std::size_t i = 0; i < limits::connections_leaving_max; ++i) all.emplace_back(places, "a");
    for (std::size_t i = 0; i < limits::connections_leaving_max; ++i) {
        EXPECT_FALSE(places.is_crowded());
        all.emplace_back(places, "b");
    }
    EXPECT_TRUE(places.is_crowded());
    all.pop_front();
    EXPECT_FALSE(places.is_crowded());
}

}  // namespace
}  // namespace herald::test
