// Protects the embedded log's bytes: what a power failure tore off at the end is cut off, all other damage is
// refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/process/storage/embedded_log/embedded_log.hpp"

namespace herald::test {
namespace {

namespace fs = std::filesystem;
using namespace events;
using namespace events::log;
using ::testing::HasSubstr;

/// The folder's largest file with this ending.
fs::path largest(const fs::path& folder, const std::string& ending) {
    fs::path found;
    for (const auto& each : fs::directory_iterator(folder))
        if (each.path().extension() == ending && (found.empty() || each.file_size() > fs::file_size(found)))
            found = each.path();
    return found;
}

void flip_byte(const fs::path& file, std::uintmax_t at) {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(static_cast<std::streamoff>(at));
    const int before = bytes.get();
    bytes.seekp(static_cast<std::streamoff>(at));
    bytes.put(static_cast<char>(before ^ 0x40));
    ASSERT_TRUE(bytes.good());
}

TEST_F(embedded_log, a_flipped_byte_in_the_middle_is_refused) {
    open();
    append_many(direct_0, 1'000, 100);
    const fs::path copy = copy_alive();
    const fs::path file = largest(copy, ".log");
    flip_byte(file, fs::file_size(file) / 2);
    const result<void> opened = try_open(copy);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, error_code::failed_precondition);
    EXPECT_THAT(opened.error().message, HasSubstr("damaged and cannot be repaired"));
}

TEST_F(embedded_log, a_flipped_byte_in_a_table_is_found_when_it_is_read) {
    x_options.recent_bytes_max = 0;
    open();
    append_many(direct_0, 1'000, 100);
    x_log.reset();  // writes the table
    const fs::path file = largest(x_folder / "log", ".sst");
    flip_byte(file, fs::file_size(file) / 2);
    const result<void> opened = try_open(x_folder / "log");
    ASSERT_TRUE(opened) << opened.error().message;
    const auto found = read(direct_0, 0);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, error_code::failed_precondition);
    EXPECT_THAT(found.error().message, HasSubstr("damaged"));
}

TEST_F(embedded_log, a_torn_end_is_cut_off) {
    open();
    append_many(direct_0, 100, 100);
    const fs::path copy = copy_alive();
    const fs::path file = largest(copy, ".log");
    fs::resize_file(file, fs::file_size(file) - 10);
    open(copy);
    const auto found = read(direct_0, 0);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_LT(found->size(), 100u);
    EXPECT_EQ(*append(direct_0, "next", "v"), static_cast<std::int64_t>(found->size()));
}

constexpr std::uintmax_t page_bytes = 4'096;

/// As after a power failure: the file has its old length, but these pages never reached the disk.
void zero_pages(const fs::path& file, std::uintmax_t first, std::uintmax_t count) {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(static_cast<std::streamoff>(first * page_bytes));
    const std::uintmax_t most = fs::file_size(file) - first * page_bytes;
    bytes << std::string(std::min(count * page_bytes, most), '\0');
    ASSERT_TRUE(bytes.good());
}

TEST_F(embedded_log, an_unsynced_end_of_which_the_disk_wrote_only_some_pages_is_cut_off) {
    open();
    append_many(direct_0, 100, 100);
    const std::uintmax_t synced_bytes = fs::file_size(largest(x_folder / "log", ".log"));
    append_many(promote_0, 2'000, 100);
    const fs::path alive = copy_alive();
    const std::uintmax_t first = synced_bytes / page_bytes + 1;
    const std::uintmax_t pages = fs::file_size(largest(alive, ".log")) / page_bytes + 1;
    ASSERT_GT(pages, first + 20);
    for (const auto& [from, count] : std::vector<std::pair<std::uintmax_t, std::uintmax_t>>{
             {first, 1}, {first, pages - first}, {first + 9, 3}, {pages - 2, 2}, {pages - 1, 1}}) {
        SCOPED_TRACE("pages from " + std::to_string(from) + ", " + std::to_string(count));
        const fs::path copy = x_folder / "torn";
        fs::remove_all(copy);
        fs::copy(alive, copy, fs::copy_options::recursive);
        zero_pages(largest(copy, ".log"), from, count);
        open(copy);
        EXPECT_EQ(read(direct_0, 0)->size(), 100u);
        const auto events = read(promote_0, 0);
        ASSERT_TRUE(events) << events.error().message;
        EXPECT_LT(events->size(), 2'000u);
        EXPECT_EQ(*append(promote_0, "next", "v"), static_cast<std::int64_t>(events->size()));
        open(copy);
        EXPECT_EQ(read(promote_0, 0)->size(), events->size() + 1);
        x_log.reset();
    }
}

TEST_F(embedded_log, pages_lost_before_what_was_synced_are_refused) {
    open();
    append_many(promote_0, 500, 100);
    const std::uintmax_t unsynced_bytes = fs::file_size(largest(x_folder / "log", ".log"));
    append_many(direct_0, 1, 100'000);
    append_many(promote_0, 500, 100);
    const fs::path alive = copy_alive();
    for (const std::uintmax_t page : {unsynced_bytes / page_bytes - 1, unsynced_bytes / 2 / page_bytes}) {
        SCOPED_TRACE("page " + std::to_string(page));
        const fs::path copy = x_folder / "damaged";
        fs::remove_all(copy);
        fs::copy(alive, copy, fs::copy_options::recursive);
        zero_pages(largest(copy, ".log"), page, 1);
        const result<void> opened = try_open(copy);
        ASSERT_FALSE(opened);
        EXPECT_EQ(opened.error().code, error_code::failed_precondition);
        EXPECT_THAT(opened.error().message, HasSubstr("damaged and cannot be repaired"));
    }
}

TEST_F(embedded_log, a_flipped_byte_at_the_end_is_no_torn_end) {
    open();
    append_many(direct_0, 100, 100);
    const fs::path copy = copy_alive();
    const fs::path file = largest(copy, ".log");
    flip_byte(file, fs::file_size(file) - 50);
    const result<void> opened = try_open(copy);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, error_code::failed_precondition);
}

TEST_F(embedded_log, missing_files_are_refused_and_no_new_log_is_begun) {
    open();
    append_many(direct_0, 100, 100);
    x_log.reset();
    fs::remove(x_folder / "log" / "CURRENT");
    const result<void> opened = try_open(x_folder / "log");
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, error_code::failed_precondition);
    EXPECT_THAT(opened.error().message, HasSubstr("damaged and cannot be repaired"));
}

TEST_F(embedded_log, a_missing_table_is_refused) {
    open();
    append_many(direct_0, 100, 100);
    x_log.reset();
    fs::remove(largest(x_folder / "log", ".sst"));
    const result<void> opened = try_open(x_folder / "log");
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, error_code::failed_precondition) << opened.error().message;
}

}  // namespace
}  // namespace herald::test
