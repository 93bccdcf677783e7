// Protects P1 in the embedded log: kill -9 loses nothing that was acknowledged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <map>
#include <random>

#include "tests/process/storage/embedded_log/embedded_log.hpp"

namespace herald::test {
namespace {

namespace fs = std::filesystem;
using namespace events;
using namespace events::log;

/// What a writing process reported as acknowledged before it was killed.
struct acknowledged_record {
    std::string topic;
    std::int64_t offset = 0;
    std::string value;
};

std::vector<acknowledged_record> write_and_kill(const fs::path& folder, const std::string& name,
                                                std::size_t lines_at_least) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_addclose(&actions, ends[0]);
    std::string program = HERALD_LOG_WRITER;
    std::string folder_text = folder.string();
    std::string name_text = name;
    char* arguments[] = {program.data(), folder_text.data(), name_text.data(), nullptr};
    pid_t child = 0;
    EXPECT_EQ(::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ), 0);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);

    std::vector<acknowledged_record> found;
    FILE* lines = ::fdopen(ends[0], "r");
    char topic_name[100];
    long long offset = 0;
    char value[100];
    bool is_killed = false;
    while (std::fscanf(lines, "%99s %lld %99s", topic_name, &offset, value) == 3) {
        found.push_back({topic_name, offset, value});
        if (found.size() < lines_at_least || is_killed) continue;
        ::kill(child, SIGKILL);
        is_killed = true;
    }
    std::fclose(lines);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(is_killed) << "the writer ended by itself: " << status;
    return found;
}

TEST_F(embedded_log, kill_9_loses_nothing_that_was_acknowledged) {
    constexpr int rounds = 20;
    const auto seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::size_t total = 0;
    for (int round = 0; round < rounds; ++round) {
        const std::string name = "round" + std::to_string(round);
        const auto acknowledged = write_and_kill(x_folder / "log", name, 1 + random() % 3'000);
        total += acknowledged.size();
        open();
        std::map<std::string, std::map<std::int64_t, std::string>> there;
        for (const topic_partition& where : {commands_0, direct_0, promote_0}) {
            const auto records = read(where, 0);
            ASSERT_TRUE(records) << records.error().message;
            std::map<std::string, std::uint64_t> next;
            std::int64_t offset = 0;
            for (const record& each : *records) {
                ASSERT_EQ(each.offset, offset++);
                const std::string whose = each.value->substr(0, each.value->find('/'));
                ASSERT_EQ(*each.value, whose + "/" + std::to_string(next[whose]++)) << "out of order";
                there[where.topic][each.offset] = *each.value;
            }
        }
        for (const acknowledged_record& each : acknowledged)
            ASSERT_EQ(there[each.topic][each.offset], each.value) << "in round " << round;
        x_log.reset();
    }
    std::printf("%zu acknowledged records in %d rounds\n", total, rounds);
}

}  // namespace
}  // namespace herald::test
