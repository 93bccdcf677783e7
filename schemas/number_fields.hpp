// One member of a record, without decoding the rest.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace herald::schemas {

/// The number in this field of a message's bytes; empty when the field is absent, or not a number. Reads no
/// further than needed.
std::optional<std::uint64_t> find_number(std::string_view bytes, unsigned field) noexcept;
/// The text, or the bytes of the message, likewise. Points into `bytes`.
std::optional<std::string_view> find_bytes(std::string_view bytes, unsigned field) noexcept;

}  // namespace herald::schemas
