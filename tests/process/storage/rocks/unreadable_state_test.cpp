// Protects the state from being dropped because of an I/O error: only what RocksDB calls corrupt is rebuilt.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <optional>

#include "storage/rocks/rocks_state.hpp"
#include "tests/support/folder.hpp"

namespace {

std::atomic<bool> reads_fail = false;

}  // namespace

/// RocksDB's reads: the program's own definition takes precedence over libc's.
extern "C" ssize_t pread(int file, void* to, size_t bytes, off_t from) {
    if (reads_fail) {
        errno = EIO;
        return -1;
    }
    return static_cast<ssize_t>(::syscall(SYS_pread64, file, to, bytes, from));
}

namespace herald::test {
namespace {

storage::registry::state::row_changes row(const std::string& key, const std::string& value) {
    storage::registry::state::row_changes changes;
    changes[key] = value;
    return changes;
}

/// A state whose row "Za" lies in a table, not in memory.
std::unique_ptr<storage::rocks::rocks_state> state_on_disk(const std::filesystem::path& folder) {
    {
        auto made = storage::rocks::open_rocks_state(folder);
        EXPECT_TRUE(made) << made.error().message;
        EXPECT_TRUE(made->store->write(row("Za", "1")));
    }
    auto opened = storage::rocks::open_rocks_state(folder);
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(opened->store);
}

TEST(unreadable_state_test, an_io_error_is_no_corruption_and_what_was_there_is_read_after_opening_again) {
    temporary_folder folder;
    auto store = state_on_disk(folder / "state");
    std::optional<storage::rocks::unreadable> told;
    store->on_unreadable([&](storage::rocks::unreadable how) { told = how; });
    reads_fail = true;
    try {
        static_cast<void>(store->view()->get("Za"));
        ADD_FAILURE() << "the row was read";
    } catch (const storage::registry::state::state_corrupt& corrupt) {
        ADD_FAILURE() << corrupt.what();
    } catch (const storage::registry::state::state_unreadable&) {
    }
    reads_fail = false;
    EXPECT_EQ(told, storage::rocks::unreadable::io_error);
    store.reset();
    const auto again = storage::rocks::open_rocks_state(folder / "state");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->rebuilt_because, "");
    EXPECT_EQ(again->store->view()->get("Za"), "1");
}

TEST(unreadable_state_test, an_io_error_while_opening_is_told_and_drops_nothing) {
    temporary_folder folder;
    state_on_disk(folder / "state").reset();
    reads_fail = true;
    EXPECT_FALSE(storage::rocks::open_rocks_state(folder / "state"));
    reads_fail = false;
    const auto again = storage::rocks::open_rocks_state(folder / "state");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->rebuilt_because, "");
    EXPECT_EQ(again->store->view()->get("Za"), "1");
}

TEST(unreadable_state_test, a_state_in_the_minority_is_made_again_and_one_of_another_log_is_refused) {
    temporary_folder folder;
    state_on_disk(folder / "state")->mark_for_rebuilding("in the minority");
    {
        const auto rebuilt = storage::rocks::open_rocks_state(folder / "state");
        ASSERT_TRUE(rebuilt) << rebuilt.error().message;
        EXPECT_EQ(rebuilt->rebuilt_because, "in the minority");
        EXPECT_FALSE(rebuilt->store->view()->get("Za"));
        rebuilt->store->mark_as_refused("the log was cut");
    }
    for (int start = 0; start < 2; ++start) {
        const auto refused = storage::rocks::open_rocks_state(folder / "state");
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, error_code::failed_precondition);
        EXPECT_NE(refused.error().message.find("the log was cut"), std::string::npos);
    }
}

}  // namespace
}  // namespace herald::test
