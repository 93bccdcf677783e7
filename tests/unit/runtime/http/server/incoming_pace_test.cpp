// Protects against slow clients: a header has one bound however slowly it drips in; a body's time depends on
// its bytes.
#include "runtime/http/server/incoming_pace.hpp"

#include <gtest/gtest.h>

#include "runtime/http/server/server.hpp"

namespace herald::test {
namespace {

using namespace runtime::http::server;
using phase = incoming_pace::phase;

connection_limits body_limits() {
    connection_limits bounds;
    bounds.idle_ms = 300;
    bounds.header_ms = 50;
    bounds.body_ms_base = 100;
    return bounds;
}

TEST(incoming_pace, counts_each_phase_from_its_first_byte_and_not_from_its_last) {
    const connection_limits bounds = body_limits();
    incoming_pace pace(bounds);
    EXPECT_EQ(pace.until_ms(phase::idle, 0, 1'000), 1'300);
    EXPECT_EQ(pace.until_ms(phase::header, 0, 1'200), 1'250);
    EXPECT_EQ(pace.until_ms(phase::header, 0, 1'249), 1'250);
    EXPECT_EQ(pace.until_ms(phase::body, 0, 1'249), 1'349);
}

TEST(incoming_pace, gives_a_body_a_second_more_for_each_kib_that_came) {
    const connection_limits bounds = body_limits();
    incoming_pace pace(bounds);
    EXPECT_EQ(pace.until_ms(phase::body, 0, 1'000), 1'100);
    EXPECT_EQ(pace.until_ms(phase::body, 2'048, 1'090), 3'100);
}

TEST(incoming_pace, begins_anew_with_the_next_request) {
    const connection_limits bounds = body_limits();
    incoming_pace pace(bounds);
    EXPECT_EQ(pace.until_ms(phase::header, 0, 1'000), 1'050);
    pace.next_request();
    EXPECT_EQ(pace.until_ms(phase::header, 0, 2'000), 2'050);
}

}  // namespace
}  // namespace herald::test
