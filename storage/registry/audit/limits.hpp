// The bounds of the audit. Another value waits for a level (schemas/commands/level.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::size_t audit_row_bytes_max = 1'024;
constexpr std::size_t audit_text_bytes_max = 128;  // of a name
constexpr std::size_t audit_action_bytes_max = 128;
constexpr std::size_t audit_list_bytes_max = 64;  // in an action: of the ids that it names
constexpr std::size_t audit_word_bytes_max = 64;  // of a type of resource, an address
constexpr std::int64_t audit_kept_ms = 400ll * 24 * 3'600'000;

// An action, two words, an id that may be a name, three names, a hash, and seven numbers with the heads of
// all fifteen members.
static_assert(audit_action_bytes_max + 2 * audit_word_bytes_max + 4 * audit_text_bytes_max + 32 + 7 * 10 +
                  3 * 15 <=
              audit_row_bytes_max);

}  // namespace herald::limits
