// Protects a state that begins with a snapshot: it has every row that the snapshot was taken of, and a
// snapshot that was changed on its disk is never used.
#include <gtest/gtest.h>

#include <fstream>

#include "schemas/commands/level.hpp"
#include "storage/registry/tables/installation.hpp"
#include "storage/registry/tables/position.hpp"
#include "storage/snapshots/limits.hpp"
#include "storage/snapshots/snapshot_files.hpp"
#include "storage/snapshots/snapshot_taker.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/until.hpp"

namespace herald::test {
namespace {

namespace fs = std::filesystem;
namespace tables = storage::registry::tables;
using storage::rocks::open_rocks_state;
using storage::snapshots::load_newest;
using storage::snapshots::snapshot_store;
using storage::snapshots::take_snapshot;

constexpr schemas::uuid log_id{7};

class snapshots : public testing::Test {
  protected:
    /// As if `next_offset` records were applied.
    void apply_up_to(std::uint64_t next_offset, std::uint32_t level = schemas::commands::newest_level) {
        const auto opened = open_rocks_state(folder / "state");
        ASSERT_TRUE(opened);
        storage::rocks::rocks_state& state = *opened->store;
        const auto view = state.view();
        storage::registry::state::state_changes changes(view.get());
        schemas::commands::genesis beginning;
        beginning.log_id = log_id;
        tables::installation::put(changes, beginning);
        tables::put_level(changes, level);
        tables::engine_position position;
        position.next_offset = next_offset;
        tables::positions::put(changes, position);
        for (int i = 0; i < 1'000; ++i)
            changes.put("M" + std::to_string(i), std::string(100, static_cast<char>('a' + i % 26)));
        ASSERT_TRUE(state.write(changes.changes()));
        const auto taken = take_snapshot(state, *store);
        ASSERT_TRUE(taken) << taken.error().message;
    }

    /// The next offset of the state that is loaded; 0 when none is.
    std::uint64_t loaded(std::uint32_t generation = 1) {
        fs::remove_all(folder / "loaded");
        const auto name = load_newest(*store, log_id, generation, folder / "loaded");
        EXPECT_TRUE(name);
        if (!name || !*name) return 0;
        const auto opened = open_rocks_state(folder / "loaded");
        EXPECT_TRUE(opened && opened->rebuilt_because.empty());
        opened->store->verify();
        std::size_t rows = 0;
        opened->store->view()->scan("M", {}, [&](std::string_view, std::string_view) { return ++rows > 0; });
        EXPECT_EQ(rows, 1'000u);
        return tables::positions::find(*opened->store->view())->next_offset;
    }

    std::vector<std::string> names() const { return *store->names(); }
    fs::path file_of(const std::string& name, const std::string& extension) const {
        for (const auto& each : fs::directory_iterator(folder / "snapshots" / name))
            if (each.path().extension() == extension) return each.path();
        return {};
    }

    temporary_folder folder;
    std::unique_ptr<snapshot_store> store =
        storage::snapshots::make_snapshot_folder(folder / "snapshots", folder / "unfinished");
};

TEST_F(snapshots, the_newest_is_loaded_with_all_its_rows) {
    EXPECT_EQ(loaded(), 0u);
    apply_up_to(10);
    apply_up_to(200);
    EXPECT_EQ(loaded(), 200u);
}

TEST_F(snapshots, only_the_newest_two_are_kept) {
    for (const std::uint64_t offset : {10u, 20u, 3'000u}) apply_up_to(offset);
    EXPECT_EQ(names().size(), limits::snapshots_kept);
    EXPECT_EQ(loaded(), 3'000u);
}

TEST_F(snapshots, one_with_a_flipped_byte_is_passed_over_for_the_one_before) {
    apply_up_to(10);
    apply_up_to(20);
    const fs::path table = file_of(names().front(), ".sst");
    // The database shares this file: it is replaced, not changed.
    fs::copy_file(table, folder / "copy");
    fs::remove(table);
    std::fstream copy(folder / "copy", std::ios::in | std::ios::out | std::ios::binary);
    copy.seekp(500);
    copy.put('\x7f');
    copy.close();
    fs::rename(folder / "copy", table);
    EXPECT_EQ(loaded(), 10u);
}

TEST_F(snapshots, one_that_lacks_a_file_or_its_end_is_passed_over) {
    apply_up_to(10);
    apply_up_to(20);
    fs::remove(file_of(names().front(), ".sst"));
    EXPECT_EQ(loaded(), 10u);
    const fs::path list = folder / "snapshots" / names().back() / "LIST";
    fs::resize_file(list, fs::file_size(list) - 1);
    EXPECT_EQ(loaded(), 0u);
}

TEST_F(snapshots, one_of_another_log_or_of_a_level_unknown_here_is_passed_over) {
    apply_up_to(10);
    EXPECT_EQ(loaded(2), 0u);
    apply_up_to(20, schemas::commands::newest_level + 1);
    EXPECT_EQ(loaded(), 10u);
}

TEST_F(snapshots, one_that_is_stopped_is_not_kept_and_leaves_nothing) {
    apply_up_to(10);
    const auto opened = open_rocks_state(folder / "state");
    std::stop_source stop;
    stop.request_stop();
    const auto taken = take_snapshot(*opened->store, *store, stop.get_token());
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, error_code::aborted);
    EXPECT_EQ(names().size(), 1u);
    EXPECT_FALSE(fs::exists(folder / "unfinished"));
}

TEST_F(snapshots, a_taker_that_was_forbidden_or_has_little_disk_takes_none) {
    apply_up_to(10);
    const auto opened = open_rocks_state(folder / "state");
    bool is_low = true;
    storage::snapshots::snapshot_taker taker(*opened->store, *store, [&] { return is_low; });
    EXPECT_EQ(taker.begin().error().code, error_code::unavailable);
    EXPECT_FALSE(taker.is_taking());
    is_low = false;
    ASSERT_TRUE(taker.begin());
    ASSERT_TRUE(eventually([&] { return !taker.is_taking(); }));
    EXPECT_EQ(taker.failures(), 0u);
    ASSERT_EQ(taker.list()->size(), 1u);
    EXPECT_EQ(taker.list()->front().next_offset, 10u);
    EXPECT_GT(taker.list()->front().bytes, 10'000u);
    for (const std::string& name : names()) ASSERT_TRUE(store->drop(name));
    taker.forbid();
    EXPECT_FALSE(taker.begin());
    EXPECT_EQ(names().size(), 0u);
}

TEST_F(snapshots, a_folder_on_another_disk_that_machines_share_has_what_either_took) {
    const fs::path shared = fs::path("/dev/shm") / folder.path().filename();
    store = storage::snapshots::make_snapshot_folder(shared, folder / "unfinished");
    apply_up_to(10);
    store = storage::snapshots::make_snapshot_folder(shared, folder / "unfinished of another");
    EXPECT_EQ(loaded(), 10u);
    apply_up_to(20);
    EXPECT_EQ(loaded(), 20u);
    EXPECT_EQ(names().size(), 2u);
    std::size_t entries = 0;
    for ([[maybe_unused]] const auto& each : fs::directory_iterator(shared)) ++entries;
    EXPECT_EQ(entries, 2u) << "something unfinished is left";
    fs::remove_all(shared);
}

TEST_F(snapshots, what_was_cut_off_while_it_was_taken_is_no_snapshot) {
    apply_up_to(10);
    const auto place = store->workplace();
    ASSERT_TRUE(place);
    fs::create_directories(*place);
    std::ofstream(*place / "000001.sst") << "half";
    EXPECT_EQ(names().size(), 1u);
    EXPECT_EQ(loaded(), 10u);
    apply_up_to(20);
    EXPECT_EQ(loaded(), 20u);
}

TEST_F(snapshots, with_a_file_that_cannot_be_copied_or_synced_fail) {
    fs::create_directories(folder / "snapshots" / "one" / "no file");
    EXPECT_FALSE(store->fetch("one", folder / "fetched"));
    const auto place = store->workplace();
    ASSERT_TRUE(place);
    fs::create_directories(*place);
    fs::create_symlink("nowhere", *place / "lost");
    EXPECT_FALSE(store->keep("two", {}));
}

}  // namespace
}  // namespace herald::test
