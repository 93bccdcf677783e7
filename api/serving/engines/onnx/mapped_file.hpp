// The bytes of a file, read only, without a copy in memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace herald::api::serving::engines::onnx {

/// Of a file that nobody changes meanwhile.
class mapped_file {
  public:
    /// Without bytes when it is empty or cannot be read.
    explicit mapped_file(const std::filesystem::path&) noexcept;
    ~mapped_file();
    mapped_file(const mapped_file&) = delete;
    mapped_file& operator=(const mapped_file&) = delete;

    std::string_view bytes() const noexcept {
        return x_memory ? std::string_view(static_cast<const char*>(x_memory), x_length) : std::string_view();
    }

  private:
    void* x_memory = nullptr;
    std::size_t x_length = 0;
};

}  // namespace herald::api::serving::engines::onnx
