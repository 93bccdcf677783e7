// Protects what must outlive a loss of power: what could not be made durable is an error.
#include "runtime/files.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/folder.hpp"

namespace herald::test {
namespace {

TEST(make_durable, takes_files_and_folders_and_says_what_is_not_there) {
    const temporary_folder folder;
    std::ofstream(folder / "file") << "bytes";
    EXPECT_FALSE(runtime::make_durable(folder / "file"));
    EXPECT_FALSE(runtime::make_durable(folder / "."));
    EXPECT_EQ(runtime::make_durable(folder / "none"), std::errc::no_such_file_or_directory);
}

}  // namespace
}  // namespace herald::test
