// Protects clients from statuses with another meaning to them: the table of wire.md "Errors", row by row.
#include "runtime/error.hpp"

#include <gtest/gtest.h>

namespace herald::test {
namespace {

using namespace runtime;

struct row {
    error_code code;
    int number;
    int status;
    bool retryable;
    const char* name;
};

constexpr row table[] = {
    {error_code::cancelled, 1, 408, false, "CANCELLED"},
    {error_code::invalid_argument, 3, 400, false, "INVALID_ARGUMENT"},
    {error_code::deadline_exceeded, 4, 504, false, "DEADLINE_EXCEEDED"},
    {error_code::not_found, 5, 404, false, "NOT_FOUND"},
    {error_code::already_exists, 6, 409, false, "ALREADY_EXISTS"},
    {error_code::permission_denied, 7, 403, false, "PERMISSION_DENIED"},
    {error_code::resource_exhausted, 8, 429, true, "RESOURCE_EXHAUSTED"},
    {error_code::failed_precondition, 9, 400, false, "FAILED_PRECONDITION"},
    {error_code::aborted, 10, 409, false, "ABORTED"},
    {error_code::unimplemented, 12, 501, false, "UNIMPLEMENTED"},
    {error_code::internal, 13, 500, false, "INTERNAL"},
    {error_code::unavailable, 14, 503, true, "UNAVAILABLE"},
    {error_code::unauthenticated, 16, 401, false, "UNAUTHENTICATED"},
};

TEST(error, has_the_number_status_and_name_of_the_contract) {
    for (const row& each : table) {
        EXPECT_EQ(static_cast<int>(each.code), each.number) << each.name;
        EXPECT_EQ(http_status({each.code, ""}), each.status) << each.name;
        EXPECT_EQ(is_retryable({each.code, ""}), each.retryable) << each.name;
        EXPECT_FALSE(is_retryable({each.code, "", 413})) << each.name;
        EXPECT_EQ(name_of(each.code), each.name);
        EXPECT_TRUE(is_error_code(static_cast<std::uint64_t>(each.number)));
    }
}

TEST(error, knows_no_other_number) {
    for (const std::uint64_t number : {0ull, 2ull, 11ull, 15ull, 17ull, 256ull + 3, 1ull << 32})
        EXPECT_FALSE(is_error_code(number)) << number;
}

TEST(error, may_have_a_status_of_its_own) {
    EXPECT_EQ(http_status({error_code::resource_exhausted, "", 413}), 413);
}

}  // namespace
}  // namespace herald::test
