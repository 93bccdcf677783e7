// Protects a node in a container: its budgets are shares of what the container may have, not of the machine's
// memory.
#include "runtime/own_memory.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/support/folder.hpp"

namespace herald::test {
namespace {

namespace fs = std::filesystem;

class own_memory : public testing::Test {
  protected:
    void write(const fs::path& file, const std::string& text) const {
        fs::create_directories((folder / file).parent_path());
        std::ofstream(folder / file) << text;
    }
    /// A mount of `root` at <folder>/<at>.
    std::string mount(const std::string& root, const std::string& at, const std::string& type,
                      const std::string& options) const {
        return "31 23 0:28 " + root + " " + (folder / at).string() + " rw,relatime shared:9 - " + type + " " +
               type + " " + options + "\n";
    }
    void describe(const std::string& mounts, const std::string& groups) const {
        write("process/mountinfo", "22 1 0:20 / /proc rw - proc proc rw\n" + mounts);
        write("process/cgroup", groups);
    }
    std::uint64_t bound() const { return runtime::memory_bound_of_groups(folder / "process"); }

    const temporary_folder folder;
};

TEST_F(own_memory, is_the_least_bound_of_the_groups_around_the_process_of_version_2) {
    describe(mount("/", "groups", "cgroup2", "rw"), "0::/kube/pod/box\n");
    EXPECT_EQ(bound(), UINT64_MAX);
    write("groups/kube/pod/box/memory.max", "max\n");
    EXPECT_EQ(bound(), UINT64_MAX);
    write("groups/kube/memory.max", "5000\n");
    EXPECT_EQ(bound(), 5000u);
    write("groups/kube/pod/memory.max", "3000\n");
    EXPECT_EQ(bound(), 3000u);
    write("groups/kube/pod/box/memory.max", "4000\n");
    EXPECT_EQ(bound(), 3000u) << "the group around it is smaller";
    write("groups/kube/other/memory.max", "1\n");
    write("groups/kube/pod/box/inner/memory.max", "1\n");
    EXPECT_EQ(bound(), 3000u) << "not of other groups";
    write("groups/memory.max", "2000\n");
    EXPECT_EQ(bound(), 2000u) << "inside of a container, the group is at the mount point";
}

TEST_F(own_memory, is_the_least_bound_of_the_groups_around_the_process_of_version_1) {
    describe(mount("/", "cpu", "cgroup", "rw,cpu") + mount("/", "groups", "cgroup", "rw,memory") +
                 mount("/", "unified", "cgroup2", "rw"),
             "9:cpu,cpuacct:/a/b\n4:memory:/a/c\n0::/\n");
    write("cpu/a/b/memory.limit_in_bytes", "1\n");
    write("groups/a/b/memory.limit_in_bytes", "1\n");
    write("groups/a/c/memory.limit_in_bytes", "9223372036854771712\n");
    EXPECT_EQ(bound(), 9223372036854771712u);
    write("groups/a/memory.limit_in_bytes", "7000\n");
    EXPECT_EQ(bound(), 7000u);
}

TEST_F(own_memory, is_found_where_only_a_part_of_the_groups_is_mounted) {
    describe(mount("/docker/7", "groups", "cgroup", "rw,memory"), "4:memory:/docker/7/inner\n");
    write("groups/memory.limit_in_bytes", "6000\n");
    write("groups/inner/memory.limit_in_bytes", "5000\n");
    EXPECT_EQ(bound(), 5000u);
    for (const std::string group : {"/docker/7", "/docker/77", "/docker", "/../../x", "/"}) {
        describe(mount("/docker/7", "groups", "cgroup", "rw,memory"), "4:memory:" + group + "\n");
        EXPECT_EQ(bound(), 6000u) << group;
    }
}

TEST_F(own_memory, is_the_machines_where_no_group_has_a_bound) {
    EXPECT_EQ(bound(), UINT64_MAX) << "there are no control groups";
    const std::uint64_t machine = runtime::own_memory_bytes(folder / "process");
    EXPECT_GT(machine, 1u << 20);
    EXPECT_LT(machine, UINT64_MAX);
    describe(mount("/", "groups", "cgroup2", "rw"), "0::/a\n");
    write("groups/a/memory.max", "1000000\n");
    EXPECT_EQ(runtime::own_memory_bytes(folder / "process"), 1'000'000u);
    write("groups/a/memory.max", "18446744073709551615\n");
    EXPECT_EQ(runtime::own_memory_bytes(folder / "process"), machine);
}

}  // namespace
}  // namespace herald::test
