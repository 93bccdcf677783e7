// A temporary folder for one test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace herald::test {

class temporary_folder {
  public:
    temporary_folder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "herald-test-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
        x_path = pattern;
    }
    ~temporary_folder() { std::filesystem::remove_all(x_path); }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;
    std::filesystem::path operator/(const std::string& name) const { return x_path / name; }
    const std::filesystem::path& path() const { return x_path; }

  private:
    std::filesystem::path x_path;
};

}  // namespace herald::test
