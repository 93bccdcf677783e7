// Expected failures as values: the error codes of wire.md §1 and result<T>.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/result.hpp"
#include "runtime/text_parts.hpp"

namespace herald::runtime {

/// The codes of wire.md "Errors" (gRPC numbers, frozen: they are stored in outcomes and sent to clients).
enum class error_code : std::uint8_t {
    cancelled = 1,
    invalid_argument = 3,
    deadline_exceeded = 4,
    not_found = 5,
    already_exists = 6,
    permission_denied = 7,
    resource_exhausted = 8,
    failed_precondition = 9,
    aborted = 10,
    unimplemented = 12,
    internal = 13,
    unavailable = 14,
    unauthenticated = 16,
};

/// An expected failure. `message` says what was wrong, with the value, and what would be right.
struct error {
    error_code code = error_code::internal;
    std::string message;
    /// 0: the status of the code; otherwise a status of its own (405, 408, 413, 415, 431, 502).
    std::uint16_t http_status_override = 0;

    friend bool operator==(const error&, const error&) = default;
};

/// HTTP status of an error (wire.md "Errors"; never 200).
std::uint16_t http_status(const error&) noexcept;
/// "INVALID_ARGUMENT" etc.; "UNKNOWN" for a number outside the table.
std::string_view name_of(error_code) noexcept;
/// True when the same request may succeed a little later: its answer has Retry-After (wire.md §1). An error
/// with its own status means something other than its code alone (413: too large, not too many).
bool is_retryable(const error&) noexcept;
/// True if the number is one of the enum's.
bool is_error_code(std::uint64_t number) noexcept;

/// The text of an error, whole or in parts: invalid_argument({"port is ", port, "; it must be …"}).
struct error_message {
    error_message(const char* whole) : text(whole) {}
    error_message(std::string whole) : text(std::move(whole)) {}
    error_message(std::initializer_list<text_part> parts) : text(concat(parts)) {}

    std::string text;
};

error invalid_argument(error_message);
error not_found(error_message);
error already_exists(error_message);
error permission_denied(error_message);
error failed_precondition(error_message);
error aborted(error_message);
error resource_exhausted(error_message);
error unavailable(error_message);
error unauthenticated(error_message);
error internal(error_message);

}  // namespace herald::runtime

namespace herald {
using runtime::error;
using runtime::error_code;
using runtime::result;
}  // namespace herald
