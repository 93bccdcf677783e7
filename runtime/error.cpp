#include "runtime/error.hpp"

#include <array>
#include <stdexcept>

namespace herald::runtime {
namespace {

struct row {
    error_code code;
    std::uint16_t http_status;
    bool retryable;
    std::string_view name;
};

constexpr std::array rows{
    row{error_code::cancelled, 408, false, "CANCELLED"},
    row{error_code::invalid_argument, 400, false, "INVALID_ARGUMENT"},
    row{error_code::deadline_exceeded, 504, false, "DEADLINE_EXCEEDED"},
    row{error_code::not_found, 404, false, "NOT_FOUND"},
    row{error_code::already_exists, 409, false, "ALREADY_EXISTS"},
    row{error_code::permission_denied, 403, false, "PERMISSION_DENIED"},
    row{error_code::resource_exhausted, 429, true, "RESOURCE_EXHAUSTED"},
    row{error_code::failed_precondition, 400, false, "FAILED_PRECONDITION"},
    row{error_code::aborted, 409, false, "ABORTED"},
    row{error_code::unimplemented, 501, false, "UNIMPLEMENTED"},
    row{error_code::internal, 500, false, "INTERNAL"},
    row{error_code::unavailable, 503, true, "UNAVAILABLE"},
    row{error_code::unauthenticated, 401, false, "UNAUTHENTICATED"},
};

const row* find(std::uint64_t number) noexcept {
    for (const row& candidate : rows)
        if (static_cast<std::uint64_t>(candidate.code) == number) return &candidate;
    return nullptr;
}

const row* find(error_code code) noexcept { return find(static_cast<std::uint64_t>(code)); }

}  // namespace

std::uint16_t http_status(const error& failure) noexcept {
    if (failure.http_status_override != 0) return failure.http_status_override;
    const row* found = find(failure.code);
    return found ? found->http_status : std::uint16_t{500};
}

std::string_view name_of(error_code code) noexcept {
    const row* found = find(code);
    return found ? found->name : "UNKNOWN";
}

bool is_retryable(const error& failure) noexcept {
    const row* found = find(failure.code);
    return found && found->retryable && failure.http_status_override == 0;
}

bool is_error_code(std::uint64_t number) noexcept { return find(number) != nullptr; }

void throw_without_value(const error& failure) {
    throw std::logic_error("result without value: " + failure.message);
}

error invalid_argument(error_message why) { return {error_code::invalid_argument, std::move(why.text)}; }
error not_found(error_message why) { return {error_code::not_found, std::move(why.text)}; }
error already_exists(error_message why) { return {error_code::already_exists, std::move(why.text)}; }
error permission_denied(error_message why) { return {error_code::permission_denied, std::move(why.text)}; }
error failed_precondition(error_message why) {
    return {error_code::failed_precondition, std::move(why.text)};
}
error aborted(error_message why) { return {error_code::aborted, std::move(why.text)}; }
error resource_exhausted(error_message why) { return {error_code::resource_exhausted, std::move(why.text)}; }
error unavailable(error_message why) { return {error_code::unavailable, std::move(why.text)}; }
error unauthenticated(error_message why) { return {error_code::unauthenticated, std::move(why.text)}; }
error internal(error_message why) { return {error_code::internal, std::move(why.text)}; }

}  // namespace herald::runtime
