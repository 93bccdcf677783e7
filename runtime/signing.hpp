// ed25519 signatures (RFC 8032), from OpenSSL. Bytes are std::string and std::string_view.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace herald::runtime {

constexpr std::size_t signing_seed_bytes = 32;
/// The private key is any 32 bytes, the seed; a public key is 32 bytes, a signature 64.
std::string signing_public_key(std::string_view seed);
std::string sign(std::string_view seed, std::string_view bytes);
bool is_signed_by(std::string_view public_key, std::string_view bytes, std::string_view signature);

}  // namespace herald::runtime
