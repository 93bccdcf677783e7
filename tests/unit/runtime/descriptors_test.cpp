// Protects writes and deliveries from clients: however few file descriptors there are, the shares fit in.
#include "runtime/descriptors.hpp"

#include <gtest/gtest.h>

#include "runtime/limits.hpp"

namespace herald::test {
namespace {

using namespace runtime;

TEST(descriptor_shares, leave_room_for_the_process_itself) {
    for (const std::size_t limit : {256u, 1'024u, 2'048u, 4'096u, 8'192u, 20'000u, 65'536u, 1'048'576u}) {
        const descriptor_shares shares = share_descriptors(limit);
        const std::size_t named = shares.clients + shares.receivers + 3 * shares.database_files;
        EXPECT_LE(named + std::min<std::size_t>(limit / 4, 512), limit) << limit;
        EXPECT_GE(shares.clients, limit >= 16'384 ? limits::connections_max : limit / 4) << limit;
    }
}

TEST(descriptor_shares, of_1024_are_256_for_clients) {
    const descriptor_shares shares = share_descriptors(1'024);
    EXPECT_EQ(shares.clients, 256u);
    EXPECT_EQ(shares.receivers, 128u);
    EXPECT_EQ(shares.database_files, 128u);
}

}  // namespace
}  // namespace herald::test
