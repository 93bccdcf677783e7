// Protects the disk and what is on it: copies of models that nobody needs do not stay for ever, and those
// that endpoints need do not go.
#include "api/serving/copy_sweeper.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "storage/registry/tables/builds.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/memory_artifacts.hpp"
#include "tests/support/until.hpp"

namespace herald::api::serving {
namespace {

using schemas::build_id;
using storage::artifacts::stored_object;
using storage::registry::tables::builds;
using test::eventually;

boost::asio::awaitable<void> get(model_cache::model_cache& cache, std::vector<stored_object> parts,
                                 std::promise<bool>& came) {
    const auto out = co_await cache.get(std::move(parts));
    came.set_value(out.has_value());
}

class copy_sweeper_test : public testing::Test {
  protected:
    ~copy_sweeper_test() override {
        if (sweeper) sweeper->end();
        tasks.stop();
    }

    void open(std::uint64_t disk_free_bytes_min) {
        model_cache::model_cache::bounds most;
        most.disk_free_bytes_min = disk_free_bytes_min;
        auto opened = model_cache::model_cache::open(folder / "models", {objects, loops.blocking()}, most);
        ASSERT_TRUE(opened);
        models = *std::move(opened);
    }
    /// Its parts, which are copied.
    std::vector<stored_object> copied(const std::vector<std::string>& parts) {
        std::vector<stored_object> out;
        for (const std::string& part : parts) {
            const std::string digest(runtime::as_bytes(runtime::sha256(part)));
            out.push_back({storage::artifacts::object_name(digest, "12345678"), digest, part.size()});
            objects.objects[out.back().object] = part;
        }
        std::promise<bool> came;
        tasks.start("test", get(*models, out, came));
        EXPECT_TRUE(came.get_future().get());
        return out;
    }
    schemas::build build(std::uint64_t id, const std::vector<stored_object>& model) {
        schemas::build row;
        row.id = build_id{id};
        row.workspace_id = schemas::workspace_id{1};
        row.model_version_id = schemas::version_id{1};
        for (const stored_object& each : model) row.model_parts.push_back({each.digest, each.bytes});
        write([&](auto& changes) { builds::put(changes, row); });
        return row;
    }
    template <class Write>
    void write(Write write_rows) {
        const auto view = state->view();
        storage::registry::state::state_changes changes(view.get());
        write_rows(changes);
        ASSERT_TRUE(state->write(changes.changes()));
    }
    void begin() {
        const auto served = [this]() -> std::optional<std::set<build_id>> {
            ++asked;
            if (!is_known) return std::nullopt;
            return std::set{build_id{2}, build_id{9}};
        };
        sweeper = std::make_shared<copy_sweeper>(
            copy_sweeper::parts{*state, *models, served, loops[0], loops.blocking()},
            copy_sweeper::times{.interval_ms = 1, .search_interval_ms = 1});
        sweeper->begin();
    }
    /// Everything that was there before has been looked at.
    void pass() {
        const int before = asked;
        ASSERT_TRUE(eventually([&] { return asked >= before + 3; }));
    }
    bool has(const std::vector<stored_object>& model) const {
        return std::filesystem::exists(folder / "models" / model_cache::name_of(model));
    }

    test::temporary_folder folder;
    test::memory_artifacts objects;
    runtime::event_loops loops{{.loops = 1, .cores = {}, .blocking_threads = 2}};
    runtime::task_group tasks{loops[0]};
    std::unique_ptr<storage::registry::state::state_store> state =
        storage::registry::state::make_memory_state();
    std::unique_ptr<model_cache::model_cache> models;
    std::atomic<bool> is_known = true;
    std::atomic<int> asked = 0;
    std::shared_ptr<copy_sweeper> sweeper;
};

TEST_F(copy_sweeper_test, copies_of_builds_that_are_gone_go_and_others_stay) {
    open(0);
    const auto lost = copied({"lost"}), one = copied({"one"}), two = copied({"t", "wo"});
    build(1, one);
    const auto second = build(2, two);
    begin();
    EXPECT_TRUE(eventually([&] { return !has(lost); }));
    pass();
    EXPECT_TRUE(has(one) && has(two));
    write([&](auto& changes) { builds::erase(changes, second); });
    EXPECT_TRUE(eventually([&] { return !has(two); }));
    EXPECT_TRUE(has(one));
}

TEST_F(copy_sweeper_test, while_the_disk_is_low_copies_go_that_no_endpoint_needs) {
    open(0);
    const auto unused = copied({"unused"}), served = copied({"ser", "ved"});
    build(1, unused);
    build(2, served);
    begin();
    pass();
    EXPECT_TRUE(has(unused)) << "there is room";
    sweeper->end();
    open(std::uint64_t{1} << 62);
    begin();
    EXPECT_TRUE(eventually([&] { return !has(unused); }));
    pass();
    EXPECT_TRUE(has(served));
}

TEST_F(copy_sweeper_test, nothing_goes_before_it_is_known_what_is_served) {
    is_known = false;
    open(0);
    const auto model = copied({"model"});
    open(std::uint64_t{1} << 62);
    begin();
    pass();
    EXPECT_TRUE(has(model));
    is_known = true;
    EXPECT_TRUE(eventually([&] { return !has(model); }));
}

}  // namespace
}  // namespace herald::api::serving
