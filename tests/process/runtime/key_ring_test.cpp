// Protects the key ring file: only its owner can read it, it is created once, and a damaged one is refused
// with the reason.
#include "runtime/key_ring.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "runtime/crypto.hpp"

namespace herald::test {
namespace {

using namespace runtime;

class key_ring_file : public ::testing::Test {
  protected:
    key_ring_file() : x_folder(::testing::TempDir() + "herald_key_ring_" + std::to_string(::getpid())) {
        std::filesystem::create_directories(x_folder);
    }
    ~key_ring_file() override { std::filesystem::remove_all(x_folder); }

    std::filesystem::path path() const { return std::filesystem::path(x_folder) / "ring"; }
    std::filesystem::path write(const std::string& text) const {
        std::ofstream(path()) << text;
        ::chmod(path().c_str(), 0600);
        return path();
    }
    static std::string line(const std::string& name, char fill) {
        return name + " " + to_base64(std::string(seal_key_bytes, fill)) + "\n";
    }

  private:
    std::string x_folder;
};

TEST_F(key_ring_file, is_made_once_for_its_owner_only) {
    const auto made = key_ring::load_or_create(path(), system_random());
    ASSERT_TRUE(made);
    EXPECT_EQ(std::filesystem::status(path()).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    const auto again = key_ring::load_or_create(path(), system_random());
    ASSERT_TRUE(again);
    EXPECT_EQ(made->check_value(), again->check_value());
    EXPECT_EQ(*again->unseal("row", made->seal("row", "a secret", system_random())), "a secret");
}

TEST_F(key_ring_file, made_by_several_at_once_is_one_and_the_same_for_all) {
    for (int round = 0; round < 50; ++round) {
        std::filesystem::remove(path());
        std::vector<std::string> seen(8);
        std::vector<std::thread> all;
        for (std::string& mine : seen)
            all.emplace_back([&mine, this] {
                const auto ring = key_ring::load_or_create(path(), system_random());
                mine = ring ? ring->check_value() : ring.error().message;
            });
        for (std::thread& each : all) each.join();
        const auto ring = key_ring::load(path());
        ASSERT_TRUE(ring) << ring.error().message;
        for (const std::string& each : seen) ASSERT_EQ(each, ring->check_value());
    }
    const auto files = std::filesystem::directory_iterator(path().parent_path());
    EXPECT_EQ(std::distance(begin(files), end(files)), 1) << "no draft is left";
}

TEST_F(key_ring_file, that_is_not_there_is_not_found) {
    EXPECT_EQ(key_ring::load(path()).error().code, error_code::not_found);
}

TEST_F(key_ring_file, that_others_may_read_is_refused_with_the_remedy) {
    write(line("k1", 'a'));
    for (const mode_t mode : {0604u, 0601u, 0602u, 0620u, 0660u, 0610u, 0650u, 0644u, 0444u, 0670u, 0777u}) {
        ::chmod(path().c_str(), mode);
        const auto loaded = key_ring::load(path());
        ASSERT_FALSE(loaded) << std::oct << mode;
        EXPECT_EQ(loaded.error().code, error_code::failed_precondition);
        EXPECT_NE(loaded.error().message.find("chmod 600 "), std::string::npos);
    }
}

TEST_F(key_ring_file, that_a_group_of_ours_may_read_is_taken_as_kubernetes_gives_it) {
    write(line("k1", 'a'));
    for (const mode_t mode : {0440u, 0640u}) {
        ::chmod(path().c_str(), mode);
        const auto loaded = key_ring::load(path());
        EXPECT_TRUE(loaded) << loaded.error().message;
    }
}

TEST_F(key_ring_file, that_a_group_may_read_is_refused_when_it_is_not_ours_or_the_owner_is_a_stranger) {
    constexpr uid_t stranger = 12'345;
    write(line("k1", 'a'));
    if (::chown(path().c_str(), ::geteuid(), stranger) != 0) GTEST_SKIP() << "only root gives files away";
    ::chmod(path().c_str(), 0440);
    EXPECT_EQ(key_ring::load(path()).error().code, error_code::failed_precondition) << "a group of others";
    ASSERT_EQ(::chown(path().c_str(), stranger, ::getegid()), 0);
    ::chmod(path().c_str(), 0440);
    EXPECT_EQ(key_ring::load(path()).error().code, error_code::failed_precondition) << "a stranger's file";
}

TEST_F(key_ring_file, seals_under_the_last_key_and_opens_under_all) {
    const auto old = key_ring::load(write(line("k1", 'a')));
    const auto both = key_ring::load(write("# two keys\n\n" + line("k1", 'a') + line("k2", 'b')));
    ASSERT_TRUE(old && both);
    EXPECT_EQ(both->current_name(), "k2");
    EXPECT_EQ(both->check_value(), old->check_value()) << "the oldest key tells rings apart";
    EXPECT_EQ(*both->unseal("row", old->seal("row", "a secret", system_random())), "a secret");
    EXPECT_EQ(old->unseal("row", both->seal("row", "a secret", system_random())).error().code,
              error_code::failed_precondition);
}

TEST_F(key_ring_file, that_is_damaged_is_refused) {
    for (const std::string& wrong :
         {std::string(), std::string("# nothing\n"), std::string("k1\n"), std::string("k1 c2hvcnQ=\n"),
          std::string("k1 not-base64!\n"), line(std::string(33, 'n'), 'a')})
        EXPECT_EQ(key_ring::load(write(wrong)).error().code, error_code::failed_precondition) << wrong;
}

}  // namespace
}  // namespace herald::test
