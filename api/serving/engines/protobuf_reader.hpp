// Reads the fields of a message in protobuf's wire form, of which an ONNX model is made. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace herald::api::serving::engines {

struct protobuf_field {
    static constexpr unsigned varint = 0;
    static constexpr unsigned bytes_behind_length = 2;

    std::uint64_t number = 0;
    unsigned type = 0;
    std::uint64_t value = 0;  // of a varint
    std::string_view bytes;   // of all other types
};

/// The message must outlive it and what it gives.
class protobuf_reader {
  public:
    explicit protobuf_reader(std::string_view message) : x_rest(message) {}
    bool is_at_end() const noexcept { return x_rest.empty(); }
    /// Empty when the bytes are no field.
    std::optional<protobuf_field> next();

  private:
    std::optional<std::uint64_t> varint();

    std::string_view x_rest;
};

}  // namespace herald::api::serving::engines
