// Protects a node in a container: the bound of a real control group is seen, also that of a group around it.
#include "runtime/own_memory.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>
#include <system_error>

namespace herald::test {
namespace {

namespace fs = std::filesystem;

/// A control group with a bound on memory, of version 1 or 2, and one in it without. Empty paths where none
/// can be made.
class groups {
  public:
    groups() {
        for (const auto& [root, file] : {std::pair{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
                                         std::pair{"/sys/fs/cgroup", "memory.max"}}) {
            const fs::path mine = fs::path(root) / ("herald-test-" + std::to_string(::getpid()));
            std::error_code failed;
            if (!fs::create_directory(mine, failed)) continue;
            std::ofstream(mine / file) << bytes << std::flush;
            std::uint64_t set = 0;
            if (std::ifstream(mine / file) >> set && set == bytes &&
                fs::create_directory(mine / "inner", failed)) {
                inner = mine / "inner";
                outer = mine;
                return;
            }
            fs::remove(mine, failed);
        }
    }
    ~groups() {
        std::error_code ignored;
        if (!inner.empty()) fs::remove(inner, ignored);
        if (!outer.empty()) fs::remove(outer, ignored);
    }
    groups(const groups&) = delete;
    groups& operator=(const groups&) = delete;

    static constexpr std::uint64_t bytes = 64u << 20;
    fs::path outer, inner;
};

TEST(own_memory_in_a_group, is_the_bound_of_the_group_around_it) {
    const groups made;
    if (made.inner.empty()) GTEST_SKIP() << "no control group with a bound on memory can be made here";
    const pid_t child = ::fork();
    if (child == 0) {
        std::ofstream(made.inner / "cgroup.procs") << ::getpid() << std::flush;
        ::_exit(runtime::own_memory_bytes() == groups::bytes ? 0 : 1);
    }
    ASSERT_GT(child, 0);
    int ended = -1;
    ASSERT_EQ(::waitpid(child, &ended, 0), child);
    EXPECT_TRUE(WIFEXITED(ended) && WEXITSTATUS(ended) == 0) << ended;
    EXPECT_GT(runtime::own_memory_bytes(), groups::bytes) << "that of this process is not in the group";
}

}  // namespace
}  // namespace herald::test
