// Hashes, signatures and encryption, all from OpenSSL. Bytes are std::string and std::string_view.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/error.hpp"

namespace herald::runtime {

using sha256_digest = std::array<std::uint8_t, 32>;

sha256_digest sha256(std::string_view bytes) noexcept;
sha256_digest hmac_sha256(std::string_view key, std::string_view bytes) noexcept;

/// SHA-256 of input that comes in pieces. Owned by one thread; reusable after finish().
class sha256_stream {
  public:
    sha256_stream();
    ~sha256_stream();
    sha256_stream(const sha256_stream&) = delete;
    sha256_stream& operator=(const sha256_stream&) = delete;
    void add(std::string_view bytes) noexcept;
    sha256_digest finish() noexcept;

  private:
    struct context;
    std::unique_ptr<context> x_context;
};

/// Of a digest or an id.
template <std::size_t Size>
std::string_view as_bytes(const std::array<std::uint8_t, Size>& bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), Size};
}
std::string to_hex(std::string_view bytes);
result<std::string> from_hex(std::string_view text);
/// RFC 4648 §4, with padding.
std::string to_base64(std::string_view bytes);
result<std::string> from_base64(std::string_view text);
/// Takes the same time wherever the two texts differ.
bool constant_time_equal(std::string_view left, std::string_view right) noexcept;

constexpr std::size_t seal_key_bytes = 32;
constexpr std::size_t seal_nonce_bytes = 12;
/// AES-256-GCM: nonce ‖ ciphertext ‖ 16-byte tag. `bound_to` (the row that it is for) is authenticated, not
/// stored.
std::string seal(std::string_view key, std::string_view nonce, std::string_view bound_to,
                 std::string_view plain);
/// Errors: invalid_argument when the key, `bound_to` or the bytes are not the ones that were sealed.
result<std::string> unseal(std::string_view key, std::string_view bound_to, std::string_view sealed);

}  // namespace herald::runtime
