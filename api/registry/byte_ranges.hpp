// The Range field of a request (RFC 9110 §14).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "storage/artifacts/store.hpp"

namespace herald::api::registry {

enum class range_kind : std::uint8_t { whole, part, unsatisfiable };

struct wanted_range {
    range_kind kind = range_kind::whole;
    storage::artifacts::byte_range bytes;  // of a part
};

/// One range of bytes. Anything else (several ranges, another unit, bad syntax) gets the whole, as the RFC
/// allows.
wanted_range range_of(std::optional<std::string_view> field, std::uint64_t size);

}  // namespace herald::api::registry
