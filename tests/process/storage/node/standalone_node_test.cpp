// Protects P1 and P5 on disk: everything answered is there after kill -9, and a state database that is
// deleted or damaged anywhere is rebuilt from the log with the same hash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <utility>

#include "events/log/topics.hpp"
#include "storage/registry/engine/engine.hpp"
#include "tests/process/storage/node/standalone.hpp"
#include "tests/support/folder.hpp"

namespace herald::test {
namespace {

namespace fs = std::filesystem;

/// Whether its state equals what its log gives, applied in memory from the start.
bool is_state_of_its_log(standalone& on) {
    const auto shown = storage::registry::tables::positions::find(*on.store->view());
    const auto rows = storage::registry::state::make_memory_state();
    storage::registry::engine::engine engine(*rows);
    const auto reader = on.log->open_reader({std::string(events::log::topic::commands), 0}, 0);
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (engine.position().next_offset < shown->next_offset) {
        const auto batch = reader->poll(1, 100);
        if (!batch || std::chrono::steady_clock::now() > deadline) return false;
        for (const events::log::record& record : batch->records)
            if (!engine.apply(record)) return false;
    }
    return engine.position().hash == shown->hash;
}

void fill(standalone& on, std::size_t models, const std::string& prefix = "filled ") {
    std::vector<std::future<schemas::commands::outcome>> answers;
    for (std::size_t i = 0; i < models; ++i)
        answers.push_back(on.create_model_later(prefix + std::to_string(i)));
    for (auto& each : answers) ASSERT_EQ(each.get().code, 0u);
}

TEST(standalone_node_test, a_write_can_be_read_as_soon_as_it_is_answered_and_after_a_restart) {
    temporary_folder data;
    {
        standalone first(data.path());
        ASSERT_EQ(first.problem, "");
        ASSERT_EQ(first.create_model("m").code, 0u);
        EXPECT_TRUE(first.has_model("m"));
    }
    standalone second(data.path());
    ASSERT_EQ(second.problem, "");
    EXPECT_TRUE(second.has_model("m"));
    EXPECT_EQ(second.rebuilt_because, "");
}

TEST(standalone_node_test, a_state_that_was_deleted_comes_back_with_the_same_hash) {
    temporary_folder data;
    {
        standalone first(data.path());
        ASSERT_EQ(first.problem, "");
        fill(first, 2'500);
        EXPECT_TRUE(is_state_of_its_log(first));
    }
    fs::remove_all(data / "state");
    standalone second(data.path());
    ASSERT_EQ(second.problem, "");
    EXPECT_TRUE(is_state_of_its_log(second));
    EXPECT_TRUE(second.has_model("filled 2499"));
}

TEST(standalone_node_test, a_log_that_was_deleted_is_refused) {
    temporary_folder data;
    { EXPECT_EQ(standalone(data.path()).problem, ""); }
    fs::remove_all(data / "log");
    EXPECT_THAT(standalone(data.path()).problem, ::testing::HasSubstr("the log was lost or created anew"));
}

TEST(standalone_node_test, a_log_that_was_begun_anew_is_refused) {
    temporary_folder data;
    temporary_folder other;
    {
        standalone first(data.path());
        ASSERT_EQ(first.create_model("m").code, 0u);
        standalone second(other.path());
        ASSERT_EQ(second.create_model("a").code, 0u);
        ASSERT_EQ(second.create_model("b").code, 0u);
        ASSERT_EQ(second.create_model("c").code, 0u);
    }
    fs::remove_all(data / "log");
    fs::copy(other / "log", data / "log", fs::copy_options::recursive);
    standalone again(data.path());
    ASSERT_TRUE(again.failure()) << again.problem;
    EXPECT_EQ(again.failure()->what, storage::node::node_failure::kind::log_mismatch);
}

/// The files that RocksDB reads back, so without its lock and logs.
std::vector<fs::path> files_of_state(const fs::path& folder) {
    std::vector<fs::path> found;
    for (const auto& file : fs::directory_iterator(folder)) {
        const std::string name = file.path().filename();
        if (file.file_size() > 0 && (name.ends_with(".sst") || name.ends_with(".log") ||
                                     name.starts_with("MANIFEST") || name == "CURRENT"))
            found.push_back(file.path());
    }
    std::sort(found.begin(), found.end());
    return found;
}

void flip_byte(const fs::path& file, std::uint64_t at) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(at));
    char byte = 0;
    stream.get(byte);
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put(static_cast<char>(byte ^ 0x40));
}

TEST(standalone_node_test, a_byte_flipped_anywhere_in_the_state_is_found_and_made_good) {
    temporary_folder data;
    std::size_t rows = 0;
    for (int run = 0; run < 4; ++run) {  // several files of rows
        standalone first(data.path());
        ASSERT_EQ(first.problem, "");
        fill(first, 600, std::to_string(run) + " ");
        rows = first.rows();
    }
    const std::uint64_t seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto files = files_of_state(data / "state");
    ASSERT_GE(files.size(), 3u);
    int rebuilt = 0;
    for (int round = 0; round < 14; ++round) {
        temporary_folder copy;
        fs::copy(data.path(), copy.path(),
                 fs::copy_options::recursive | fs::copy_options::overwrite_existing);
        const fs::path victim =
            copy / "state" / files[static_cast<std::size_t>(round) % files.size()].filename();
        const std::uint64_t at = random() % fs::file_size(victim);
        SCOPED_TRACE(victim.filename().string() + " at " + std::to_string(at));
        flip_byte(victim, at);
        for (int start = 0; start < 3;
             ++start) {  // found at open, by --verify, or on read: then the next start
            auto opened = storage::rocks::open_rocks_state(copy / "state");
            ASSERT_TRUE(opened) << opened.error().message;
            if (!opened->rebuilt_because.empty()) ++rebuilt;
            try {
                opened->store->verify();
                break;
            } catch (const storage::registry::state::state_corrupt&) {
                ASSERT_LT(start, 2) << "an emptied state is corrupt again";
            }
        }
        standalone again(copy.path());
        ASSERT_EQ(again.problem, "");
        EXPECT_TRUE(is_state_of_its_log(again));
        EXPECT_EQ(again.rows(), rows) << "heartbeats change rows, not their number";
    }
    EXPECT_GT(rebuilt, 0);
}

/// Runs node_writer until it has printed about `bytes`, and kills it; returns what it printed.
std::string kill_a_writer(const fs::path& data, const std::string& prefix, std::size_t bytes) {
    int pipe_ends[2];
    EXPECT_EQ(::pipe(pipe_ends), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, pipe_ends[0]);
    std::string program = HERALD_NODE_WRITER, folder = data, names = prefix;
    char* const arguments[] = {program.data(), folder.data(), names.data(), nullptr};
    pid_t child = 0;
    EXPECT_EQ(::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    ::close(pipe_ends[1]);
    std::string text;
    char buffer[512];
    for (bool is_killed = false;;) {
        const ssize_t got = ::read(pipe_ends[0], buffer, sizeof buffer);
        if (got <= 0) break;
        text.append(buffer, static_cast<std::size_t>(got));
        if (text.size() >= bytes && !std::exchange(is_killed, true)) ::kill(child, SIGKILL);
    }
    ::close(pipe_ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself";
    return text;
}

TEST(standalone_node_test, what_was_answered_before_kill_9_is_there_and_the_state_is_that_of_the_log) {
    temporary_folder data;
    std::set<std::string> answered;
    for (std::size_t round = 0; round < 5; ++round) {
        const std::string text = kill_a_writer(data.path(), std::to_string(round) + "-", 500 + 1'370 * round);
        std::istringstream lines(text.substr(0, text.rfind('\n') + 1));
        for (std::string name; std::getline(lines, name);) answered.insert(name);
    }
    ASSERT_GE(answered.size(), 500u);
    {
        standalone survivor(data.path());
        ASSERT_EQ(survivor.problem, "");
        for (const std::string& name : answered) EXPECT_TRUE(survivor.has_model(name)) << name;
        EXPECT_TRUE(is_state_of_its_log(survivor));
    }
    fs::remove_all(data / "state");
    standalone replayed(data.path());
    ASSERT_EQ(replayed.problem, "");
    EXPECT_TRUE(is_state_of_its_log(replayed));
}

}  // namespace
}  // namespace herald::test
