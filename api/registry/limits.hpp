// The bounds of signed URLs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::int64_t artifact_url_valid_ms = 3'600'000;
constexpr std::int64_t artifact_judged_again_ms = 180'000;  // then an upload's rights are checked again
constexpr std::size_t range_header_bytes_max = 128;         // a longer one is ignored

}  // namespace herald::limits
