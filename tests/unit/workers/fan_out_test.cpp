// Protects the stable webhook-id, and that each member of an audience gets a delivery.
#include "workers/fan_out.hpp"

#include <gtest/gtest.h>

#include "schemas/binary.hpp"

namespace herald::test {
namespace {

using namespace workers;

schemas::event some_event() {
    schemas::event event;
    event.id = "1-00112233445566778899aabbccddeeff";
    event.body = "{}";
    event.audience = {{{7}, false, 12}, {{8}, true, 13}};
    return event;
}

TEST(fan_out, the_delivery_id_is_frozen) {
    // printf '1-00112233445566778899aabbccddeeff/7' | sha256sum
    EXPECT_EQ(schemas::delivery_id("1-00112233445566778899aabbccddeeff", {7}),
              "ca00345a9d8a21d2d230a73252e0b04b");
}

TEST(fan_out, makes_one_delivery_for_each_member_and_all_share_the_event) {
    event_memory memory;
    const auto deliveries = fan_out(some_event(), memory);
    ASSERT_EQ(deliveries.size(), 2u);
    EXPECT_EQ(deliveries[0].record.webhook_id.value, 7u);
    EXPECT_FALSE(deliveries[0].held);
    EXPECT_EQ(deliveries[0].record.revision_seen, 12u);
    EXPECT_EQ(deliveries[1].record.webhook_id.value, 8u);
    EXPECT_TRUE(deliveries[1].held);
    EXPECT_NE(deliveries[0].record.id, deliveries[1].record.id);
    EXPECT_EQ(deliveries[0].event, deliveries[1].event);
    EXPECT_TRUE(deliveries[0].event->audience.empty());
}

TEST(fan_out, an_event_takes_memory_once_until_its_last_delivery_is_gone) {
    event_memory memory;
    auto deliveries = fan_out(some_event(), memory);
    EXPECT_EQ(memory.bytes(), 2u) << "the body {} for both";
    deliveries.pop_back();
    EXPECT_EQ(memory.bytes(), 2u);
    deliveries.pop_back();
    EXPECT_EQ(memory.bytes(), 0u);
}

TEST(fan_out, a_delivery_survives_as_a_record) {
    event_memory memory;
    delivery_of_event before = fan_out(some_event(), memory)[0];
    before.record.attempts_made = 3;
    const delivery_of_event after = of_record(*schemas::decode<schemas::delivery>(encode(before)), memory);
    EXPECT_EQ(after.record.id, before.record.id);
    EXPECT_EQ(after.record.attempts_made, 3u);
    EXPECT_EQ(after.record.revision_seen, 12u);
    EXPECT_EQ(after.event->id, before.event->id);
    EXPECT_EQ(after.event->body, "{}");
    EXPECT_TRUE(after.record.event.id.empty()) << "held once, in `event`";
}

}  // namespace
}  // namespace herald::test
