// Protects what is stored: only objects that the log has marked are erased, and only old ones that no row has
// are called strays.
#include "storage/artifacts/collector/collector_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <mutex>
#include <thread>

#include "schemas/commands/artifacts.hpp"
#include "storage/registry/tables/artifacts.hpp"
#include "storage/registry/tables/installation.hpp"
#include "tests/support/memory_artifacts.hpp"
#include "tests/support/until.hpp"

namespace herald::test {
namespace {

using namespace storage;
using artifacts::collector::collector_job;
using schemas::commands::find_stray_objects;
using schemas::commands::forget_erased_objects;
using testing::ElementsAre;
using testing::IsEmpty;

/// Keeps what it is told, and applies nothing.
class listening_node final : public node::registry_node {
  public:
    void submit(schemas::commands::command_type type, std::string body, schemas::commands::request_identity,
                schemas::uuid, outcome_handler) override {
        const std::lock_guard lock(x_mutex);
        if (type == find_stray_objects::type) {
            const auto command = schemas::decode<find_stray_objects>(body);
            for (const auto& each : command->found) x_strays.push_back(each.object);
        } else if (type == forget_erased_objects::type) {
            const auto command = schemas::decode<forget_erased_objects>(body);
            x_erased.insert(x_erased.end(), command->objects.begin(), command->objects.end());
        }
    }
    std::vector<std::string> strays() const {
        const std::lock_guard lock(x_mutex);
        return x_strays;
    }
    std::vector<std::string> erased() const {
        const std::lock_guard lock(x_mutex);
        return x_erased;
    }
    std::optional<reading> read_now(storage::node::freshness) const override { return std::nullopt; }
    void read(reading_handler) override {}
    void after_next_heartbeat(std::function<void()>) override {}
    bool ready() const noexcept override { return true; }
    identity me() const override { return {}; }
    std::int64_t serves_until_ms() const noexcept override { return std::int64_t{1} << 60; }
    status state_now() const override { return {}; }
    void add_job(schemas::job, std::shared_ptr<node::claimed_job>) override {}
    void start() override {}
    void drain(std::function<void()>) override {}

  private:
    mutable std::mutex x_mutex;
    std::vector<std::string> x_strays, x_erased;
};

class collector : public testing::Test {
  protected:
    collector() {
        schemas::commands::genesis log;
        log.log_id.fill(7);
        objects.kept_owner = artifacts::store_owner{runtime::uuid_text(log.log_id), log.generation};
        change([&](registry::state::state_changes& rows) { registry::tables::installation::put(rows, log); });
    }
    ~collector() override { job->end(); }

    std::string object_of(const std::string& bytes) {
        const std::string digest(runtime::as_bytes(runtime::sha256(bytes)));
        return artifacts::object_name(digest, "12345678");
    }
    void store(const std::string& bytes) {
        on_loop([&] { objects.objects[object_of(bytes)] = bytes; });
    }
    void know(const std::string& bytes) {
        schemas::blob row;
        row.digest = *artifacts::digest_of(object_of(bytes));
        row.object = object_of(bytes);
        change([&](registry::state::state_changes& rows) { registry::tables::blobs::put(rows, row); });
    }
    void doom(const std::string& object) {
        change([&](registry::state::state_changes& rows) {
            registry::tables::doomed_objects::put(rows, object);
        });
    }
    template <class Work>
    void change(const Work& work) {
        const auto view = state->view();
        registry::state::state_changes changes(view.get());
        work(changes);
        ASSERT_TRUE(state->write(changes.changes()));
    }
    void run(std::uint64_t token) {
        loops[0].post([this, token] { job->start(token); });
    }
    bool is_there(const std::string& bytes) {
        bool there = false;
        on_loop([&] { there = objects.objects.contains(object_of(bytes)); });
        return there;
    }
    template <class Work>
    void on_loop(const Work& work) {
        std::packaged_task<void()> task(work);
        loops[0].post([&] { task(); });
        task.get_future().get();
    }

    memory_artifacts objects;
    std::unique_ptr<registry::state::state_store> state = registry::state::make_memory_state();
    listening_node node;
    runtime::event_loops loops{{.loops = 1, .cores = {}, .blocking_threads = 1}};
    std::shared_ptr<collector_job> job = std::make_shared<collector_job>(
        collector_job::parts{node, *state, objects, loops[0], runtime::system_random(), loops.blocking()},
        collector_job::times{.interval_ms = 1, .search_interval_ms = 0, .stray_kept_ms = 3'600'000});
};

TEST_F(collector, erases_what_is_marked_and_says_so_also_what_is_gone_already) {
    store("doomed");
    store("kept");
    know("kept");
    doom(object_of("doomed"));
    doom(object_of("gone"));
    doom("no name of an object");
    run(1);
    ASSERT_TRUE(eventually([&] { return node.erased().size() >= 3; }));
    EXPECT_FALSE(is_there("doomed"));
    EXPECT_TRUE(is_there("kept"));
}

TEST_F(collector, calls_stray_what_is_old_and_has_no_row_and_erases_nothing_of_it) {
    store("stray");
    store("kept");
    know("kept");
    run(1);
    ASSERT_TRUE(eventually([&] { return !node.strays().empty(); }));
    for (const std::string& each : node.strays()) EXPECT_EQ(each, object_of("stray"));
    EXPECT_TRUE(is_there("stray")) << "the log has not marked it";
    EXPECT_THAT(node.erased(), IsEmpty());
}

TEST_F(collector, leaves_alone_what_may_still_be_on_its_way_to_the_log) {
    store("fresh");
    store("doomed");
    objects.stored_ms = runtime::system_clock().wall_ms() - 1'800'000;
    doom(object_of("doomed"));
    run(1);
    ASSERT_TRUE(eventually([&] { return !node.erased().empty(); }));
    EXPECT_THAT(node.strays(), IsEmpty());
    EXPECT_TRUE(is_there("fresh"));
}

TEST_F(collector, leaves_a_store_alone_that_another_log_owns_and_every_one_while_it_is_paused) {
    store("doomed");
    doom(object_of("doomed"));
    const auto mine = objects.kept_owner;
    on_loop([&] { objects.kept_owner->generation = 2; });
    run(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE(is_there("doomed"));
    const auto pause = [&](bool is_paused) {
        schemas::restoring_row progress;
        progress.is_paused = is_paused;
        change(
            [&](registry::state::state_changes& rows) { registry::tables::restoring::put(rows, progress); });
    };
    pause(true);
    on_loop([&] { objects.kept_owner = mine; });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE(is_there("doomed"));
    pause(false);
    EXPECT_TRUE(eventually([&] { return !is_there("doomed"); }));
}

TEST_F(collector, erases_the_others_when_many_cannot_be_erased) {
    for (std::size_t i = 0; i < limits::listed_objects_max + 20; ++i) {
        const std::string bytes = "bytes " + std::to_string(i);
        store(bytes);
        doom(object_of(bytes));
    }
    std::string last;
    on_loop([&] {
        last = objects.objects.rbegin()->first;
        for (const auto& [object, bytes] : objects.objects)
            if (object != last) objects.stuck.insert(object);
    });
    run(1);
    EXPECT_TRUE(eventually([&] {
        const auto erased = node.erased();
        return std::find(erased.begin(), erased.end(), last) != erased.end();
    }));
}

TEST_F(collector, does_nothing_without_the_claim) {
    store("doomed");
    doom(object_of("doomed"));
    run(1);
    ASSERT_TRUE(eventually([&] { return !is_there("doomed"); }));
    on_loop([&] { job->stop(); });
    store("later");
    doom(object_of("later"));
    runtime::event_loops other{{.loops = 1, .cores = {}, .blocking_threads = 1}};
    std::promise<void> waited;
    other[0].run_at(other[0].time().steady_ms() + 50, [&] { waited.set_value(); });
    waited.get_future().get();
    EXPECT_TRUE(is_there("later"));
}

}  // namespace
}  // namespace herald::test
