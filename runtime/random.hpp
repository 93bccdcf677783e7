// Randomness comes in through constructors; the system source is cryptographic.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace herald::runtime {

/// Source of random bytes. The system source is thread-safe.
class random_source {
  public:
    virtual ~random_source() = default;
    virtual void fill(void* out, std::size_t bytes) noexcept = 0;

    std::uint64_t number() noexcept;
    /// Uniform in [0, limit); limit > 0.
    std::uint64_t below(std::uint64_t limit) noexcept;
    std::string bytes(std::size_t count);
    /// 16 bytes, RFC 9562 version 4.
    std::array<std::uint8_t, 16> uuid() noexcept;
};

/// getrandom(2) through one pool per thread; never destroyed.
random_source& system_random() noexcept;

/// "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", lower case.
std::string uuid_text(const std::array<std::uint8_t, 16>&);
/// The UUID of such a text, in lower or upper case; empty for any other text.
std::optional<std::array<std::uint8_t, 16>> parse_uuid(std::string_view text) noexcept;

}  // namespace herald::runtime
