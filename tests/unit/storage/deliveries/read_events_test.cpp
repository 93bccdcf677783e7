// Protects READ events (design.md §2): those who ask for them are told, at most ten times a second, and
// nobody else costs anything.
#include <gtest/gtest.h>

#include "events/log/topics.hpp"
#include "runtime/metrics.hpp"
#include "schemas/binary.hpp"
#include "storage/deliveries/limits.hpp"
#include "storage/deliveries/read_events.hpp"
#include "storage/registry/tables/webhooks.hpp"
#include "storage/registry/tables/workspaces.hpp"
#include "tests/log/memory/memory_broker.hpp"
#include "tests/log/memory/memory_log.hpp"
#include "tests/support/manual_scheduler.hpp"
#include "tests/support/seeded_random.hpp"

namespace herald::test {
namespace {

using namespace storage;
using schemas::event_type;
using schemas::resource_type;

struct read_events_test : ::testing::Test {
    read_events_test() {
        EXPECT_TRUE(log.create_topics());
        reads = deliveries::make_read_events(log, *log.partitions("deliveries.direct"), scheduler.clock(),
                                             random);
        schemas::workspace workspace;
        workspace.id.value = 1;
        workspace.name = "default";
        registry::state::state_changes changes(store->view().get());
        registry::tables::workspaces::put(changes, workspace);
        EXPECT_TRUE(store->write(changes.changes()));
    }

    void add(std::uint64_t id, std::vector<event_type> types,
             std::vector<schemas::resource_filter> resources = {}, bool is_enabled = true) {
        schemas::webhook hook;
        hook.id.value = id;
        hook.workspace_id.value = 1;
        hook.settings.name = std::to_string(id);
        hook.settings.event_types = std::move(types);
        hook.settings.resource_types = std::move(resources);
        hook.status = is_enabled ? schemas::webhook_status::enabled : schemas::webhook_status::disabled;
        hook.revision = 5;
        const auto view = store->view();
        registry::state::state_changes changes(view.get());
        registry::tables::webhooks::put(changes, hook);
        EXPECT_TRUE(store->write(changes.changes()));
    }

    void read(resource_type type = resource_type::registered_model) {
        node::registry_node::reading state;
        state.view = store->view();
        state.generation = 1;
        state.offset = 100;
        const std::function<std::string()> entity = [this] {
            ++entities_made;
            return std::string(R"({"id":"7"})");
        };
        reads->tell(state, {type, "7", {1}, "", entity});
        scheduler.settle();
    }

    std::vector<schemas::delivery> sent() {
        std::vector<schemas::delivery> all;
        for (std::int32_t partition = 0; partition < events::log::partitions_default; ++partition)
            for (const events::log::record& one : broker.records({"deliveries.direct", partition}))
                all.push_back(schemas::decode<schemas::delivery>(*one.value).value());
        return all;
    }

    manual_scheduler scheduler;
    test::seeded_random random{7};
    events::log::memory::memory_broker broker{scheduler.clock()};
    events::log::memory::memory_log log{broker, [this](auto work) { scheduler.post(std::move(work)); }};
    std::unique_ptr<registry::state::state_store> store = registry::state::make_memory_state();
    std::shared_ptr<deliveries::read_events> reads;
    int entities_made = 0;
};

TEST_F(read_events_test, only_those_are_told_who_ask_for_reads_of_this_kind) {
    schemas::resource_filter builds;
    builds.deployment_service_resource_type = resource_type::build;
    add(1, {event_type::create, event_type::update});
    add(2, {event_type::read}, {builds});
    add(3, {event_type::read}, {}, false);
    read();
    EXPECT_TRUE(sent().empty());
    EXPECT_EQ(entities_made, 0);
    read(resource_type::build);
    ASSERT_EQ(sent().size(), 1u);
    const schemas::delivery one = sent().front();
    EXPECT_EQ(one.webhook_id.value, 2u);
    EXPECT_EQ(one.source, schemas::delivery_source::event);
    EXPECT_EQ(one.revision_seen, 5u);
    EXPECT_EQ(one.event.type, event_type::read);
    EXPECT_EQ(one.event.resource_id, "7");
    EXPECT_EQ(one.event.workspace_name, "default");
    EXPECT_EQ(one.deadline_ms, scheduler.clock().wall_ms() + limits::read_event_deadline_ms);
    EXPECT_NE(one.event.body.find(R"("event_type":"READ","resource_type":"BUILD","workspaceID":1,)"
                                  R"("original":{"id":"7"})"),
              std::string::npos)
        << one.event.body;
}

TEST_F(read_events_test, never_more_than_ten_are_sent_to_one_webhook_within_any_second) {
    add(1, {event_type::read});
    add(2, {event_type::read});
    const std::uint64_t dropped = runtime::metric_counter(runtime::metrics::read_events_dropped).value();
    std::size_t asked = 0;
    std::vector<std::pair<std::int64_t, std::size_t>> counts;
    for (int step = 0; step < 100; ++step, ++asked) {
        read();
        counts.emplace_back(scheduler.clock().steady_ms(), sent().size());
        scheduler.run_for(37);
    }
    for (const auto& [from_ms, before] : counts)
        for (const auto& [to_ms, after] : counts)
            if (to_ms > from_ms && to_ms < from_ms + 1'000)
                EXPECT_LE(after - before, 2 * limits::read_events_per_second_max) << from_ms << " " << to_ms;
    EXPECT_GE(sent().size(), 2 * 30u);
    EXPECT_EQ(
        sent().size() + runtime::metric_counter(runtime::metrics::read_events_dropped).value() - dropped,
        2 * asked);
}

TEST_F(read_events_test, a_webhook_hears_within_a_second_of_its_creation) {
    read();
    add(1, {event_type::read});
    scheduler.run_for(limits::read_listeners_kept_ms);
    read();
    EXPECT_EQ(sent().size(), 1u);
}

}  // namespace
}  // namespace herald::test
