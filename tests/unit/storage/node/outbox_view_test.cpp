// Protects the publisher's view of the registry: what it keeps between calls.
#include "storage/node/outbox_view.hpp"

#include <gtest/gtest.h>

#include "events/limits.hpp"
#include "events/log/topics.hpp"
#include "storage/registry/tables/tables.hpp"

namespace herald::test {
namespace {

using namespace storage;
using namespace storage::node;
using namespace storage::registry::state;
using namespace storage::registry::tables;

TEST(outbox_view_test, holds_no_view_of_the_past_for_one_pins_all_that_was_overwritten_since) {
    const auto store = make_memory_state();
    const outbox_view outbox(*store);
    const std::weak_ptr<const state_view> counted = store->view();
    EXPECT_TRUE(
        outbox
            .rows({std::string(events::log::topic::promote), 0}, 1, 1, limits::publisher_bytes_in_flight_max)
            .empty());
    row_changes more;
    schemas::append_varint(*(more[key_of(table::counter).text("model")] = std::string()), 7);
    ASSERT_TRUE(store->write(more));
    EXPECT_TRUE(counted.expired());
}

}  // namespace
}  // namespace herald::test
