// Protects clients' error handling: every error has the one form of wire.md "Errors".
#include "runtime/http/server/error_response.hpp"

#include <gtest/gtest.h>

namespace herald::test {
namespace {

using namespace runtime::http::server;

TEST(error_response, has_message_twice_code_and_details) {
    const runtime::http::http_response got = error_response(runtime::not_found("no model \"a\""));
    EXPECT_EQ(got.status, 404);
    EXPECT_EQ(got.content_type, "application/json");
    EXPECT_EQ(got.body, R"({"error":"no model \"a\"","code":5,"message":"no model \"a\"","details":[]})");
    EXPECT_TRUE(got.headers.empty());
}

TEST(error_response, says_when_to_try_again_where_that_helps) {
    for (const error& failure : {runtime::resource_exhausted("slow down"), runtime::unavailable("later")}) {
        const runtime::http::http_response got = error_response(failure);
        ASSERT_EQ(got.headers.size(), 1u);
        EXPECT_EQ(got.headers[0].name, "retry-after");
    }
    EXPECT_TRUE(error_response({error_code::resource_exhausted, "too large", 413}).headers.empty());
}

}  // namespace
}  // namespace herald::test
