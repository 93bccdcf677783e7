// How long a TLS certificate is valid.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace herald::runtime {

/// When the first certificate of a PEM file expires, in ms since the Unix epoch; empty when none can be read.
std::optional<std::int64_t> certificate_expiry_ms(const std::filesystem::path& pem_file);

}  // namespace herald::runtime
