// Protects every path of the contract: the right handler, decoded parameters, and the right refusal for
// everything else.
#include "api/calls/router.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace {
std::size_t allocations = 0;
}

// ThreadSanitizer has its own operator new, which cannot be replaced.
#if defined(__SANITIZE_THREAD__)
#define HERALD_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#define HERALD_COUNTS_ALLOCATIONS !__has_feature(thread_sanitizer)
#else
#define HERALD_COUNTS_ALLOCATIONS 1
#endif

#if HERALD_COUNTS_ALLOCATIONS
// Counts, so that a test can tell that the hot path allocates nothing.
void* operator new(std::size_t bytes) {
    ++allocations;
    if (void* out = std::malloc(bytes)) return out;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace herald::test {
namespace {

using namespace api;
using namespace api::calls;

using runtime::http::http_method;

boost::asio::awaitable<result<runtime::http::http_response>> answer(writing_call&) {
    co_return runtime::http::http_response{};
}

route row(http_method method, std::string_view pattern) {
    route out;
    out.method = method;
    out.pattern = pattern;
    out.kind = write_row{answer};
    return out;
}

const std::vector<route> table = {
    row(http_method::get, "/"),
    row(http_method::get, "/healthz"),
    row(http_method::get, "/models/{name}"),
    row(http_method::delete_, "/models/{name}"),
    row(http_method::post, "/models/find"),
    row(http_method::get, "/runs/{build}"),
    row(http_method::post, "/runs/find"),
    row(http_method::get, "/models/{model}/versions/{version}"),
    row(http_method::get, "/models/count/versions/all"),
    row(http_method::post, "/predict/{path...}"),
    row(http_method::post, "/predict/batch/{path...}"),
};

std::string matched(http_method method, std::string_view path) {
    static const router routes(table);
    const auto found = routes.match(method, path);
    if (!found) {
        const route_refusal& refusal = found.error();
        return std::to_string(http_status(refusal.why)) + (refusal.allow.empty() ? "" : " " + refusal.allow);
    }
    std::string out(found->target->pattern);
    for (const std::string_view name : found->names())
        out += " " + std::string(name) + "=" + std::string(found->parameter(name, path));
    return out;
}

std::string get(std::string_view path) { return matched(http_method::get, path); }

TEST(router, finds_literals_and_parameters) {
    EXPECT_EQ(get("/"), "/");
    EXPECT_EQ(get("/healthz"), "/healthz");
    EXPECT_EQ(get("/models/7"), "/models/{name} name=7");
    EXPECT_EQ(get("/models/a/versions/b"), "/models/{model}/versions/{version} model=a version=b");
}

TEST(router, prefers_a_literal_and_falls_back_to_the_parameter) {
    EXPECT_EQ(matched(http_method::post, "/models/find"), "/models/find");
    EXPECT_EQ(get("/models/find"), "/models/{name} name=find") << "a model may be called find";
    EXPECT_EQ(get("/runs/find"), "405 POST") << "no id is called find";
    EXPECT_EQ(get("/runs/x"), "/runs/{build} build=x");
    EXPECT_EQ(get("/models/count/versions/all"), "/models/count/versions/all");
    EXPECT_EQ(get("/models/count/versions/1"), "/models/{model}/versions/{version} model=count version=1");
}

TEST(router, gives_the_rest_of_a_path_with_its_slashes) {
    EXPECT_EQ(matched(http_method::post, "/predict/a/b/c"), "/predict/{path...} path=a/b/c");
    EXPECT_EQ(matched(http_method::post, "/predict/batch/a/b"), "/predict/batch/{path...} path=a/b");
    EXPECT_EQ(matched(http_method::post, "/predict/batch"), "/predict/{path...} path=batch");
    EXPECT_EQ(matched(http_method::post, "/predict/"), "404");
    EXPECT_EQ(matched(http_method::post, "/predict"), "404");
}

TEST(router, decodes_parameters) {
    EXPECT_EQ(get("/models/a%20b%2Fc"), "/models/{name} name=a b/c");
    EXPECT_EQ(get("/models/%c3%A4"), "/models/{name} name=\xc3\xa4");
    EXPECT_EQ(get("/models/a+b"), "/models/{name} name=a+b");
    EXPECT_EQ(get("/models/%41/versions/%42"), "/models/{model}/versions/{version} model=A version=B");
    EXPECT_EQ(get("/models/find%3F"), "/models/{name} name=find?");
}

TEST(router, refuses_what_is_not_percent_encoded_text) {
    for (const char* wrong : {"/models/%", "/models/%4", "/models/%zz", "/models/a%4", "/models/%ff",
                              "/models/%00", "/models/%0a", "/models/%c3", "/models/%ed%a0%80"})
        EXPECT_EQ(get(wrong), "400") << wrong;
}

TEST(router, knows_no_other_path) {
    for (const char* wrong :
         {"", "healthz", "/nothing", "/healthz/", "//healthz", "/models", "/models/", "/models//versions/1",
          "/models/7/", "/models/7/versions", "/%68ealthz", "/HEALTHZ"})
        EXPECT_EQ(get(wrong), "404") << wrong;
}

TEST(router, names_the_methods_that_a_path_has) {
    EXPECT_EQ(matched(http_method::put, "/models/7"), "405 GET, HEAD, DELETE");
    EXPECT_EQ(matched(http_method::put, "/models/find"), "405 POST") << "as a document says of this path";
    for (const http_method nobody_has : {http_method::trace, http_method::query})
        EXPECT_EQ(matched(nobody_has, "/models/7"), "405 GET, HEAD, DELETE");
    EXPECT_EQ(matched(http_method::options, "/healthz"), "405 GET, HEAD");
    EXPECT_EQ(matched(http_method::get, "/predict/a"), "405 POST");
}

TEST(router, answers_head_where_there_is_get) {
    EXPECT_EQ(matched(http_method::head, "/healthz"), "/healthz");
    EXPECT_EQ(matched(http_method::head, "/predict/a"), "405 POST");
}

TEST(router, refuses_with_the_errors_of_the_contract) {
    const router routes(table);
    const route_refusal unknown = routes.match(http_method::get, "/nothing").error();
    EXPECT_EQ(unknown.why.code, error_code::not_found);
    EXPECT_NE(unknown.why.message.find("/nothing"), std::string::npos);
    const runtime::http::http_response other =
        refusal_response(routes.match(http_method::put, "/healthz").error());
    EXPECT_EQ(other.status, 405);
    EXPECT_NE(other.body.find("\"code\":12,"), std::string::npos);
    ASSERT_EQ(other.headers.size(), 1u);
    EXPECT_EQ(other.headers[0].name, "allow");
    EXPECT_EQ(other.headers[0].value, "GET, HEAD");
}

TEST(router, allocates_nothing_for_a_path_without_percent_encoding) {
    if (!HERALD_COUNTS_ALLOCATIONS) GTEST_SKIP() << "allocations cannot be counted under ThreadSanitizer";
    const router routes(table);
    const std::string path =
        "/models/0123456789abcdef0123456789abcdef/versions/0123456789abcdef0123456789abcdef";
    const std::size_t before = allocations;
    const auto found = routes.match(http_method::get, path);
    EXPECT_EQ(allocations, before);
    EXPECT_TRUE(found);
    EXPECT_EQ(found->parameter("version", path).size(), 32u);
    EXPECT_TRUE(found->parameter("nothing", path).empty());
}

TEST(router, stays_fast_on_a_path_made_to_confuse_it) {
    std::vector<std::string> patterns;
    for (int i = 0; i < 256; ++i) {
        std::string pattern;
        for (int bit = 0; bit < 8; ++bit)
            pattern += (i >> bit & 1) ? "/a" : "/{p" + std::to_string(bit) + "}";
        patterns.push_back(pattern + "/end" + std::to_string(i));
    }
    std::vector<route> rows;
    for (const std::string& pattern : patterns) rows.push_back(row(http_method::get, pattern));
    const router routes(rows);
    for (int i = 0; i < 1'000; ++i) EXPECT_FALSE(routes.match(http_method::get, "/a/a/a/a/a/a/a/a/nowhere"));
}

TEST(router, keeps_parameters_when_the_match_moves_and_when_the_path_does) {
    const router routes(table);
    for (const auto& [sent, value] : {std::pair{"/models/a%20b", "a b"}, {"/models/plain", "plain"}}) {
        std::string path = sent;
        auto first = routes.match(http_method::get, path);
        ASSERT_TRUE(first);
        const route_match moved = std::move(*first);
        const std::string elsewhere = path;
        path.assign(path.size(), '!');
        EXPECT_EQ(moved.parameter("name", elsewhere), value);
    }
}

TEST(router, takes_no_table_that_is_wrong) {
    const auto refused = [](std::vector<route> rows) {
        EXPECT_THROW(router{rows}, std::invalid_argument) << rows.back().pattern;
    };
    const auto get_row = [](std::string_view pattern) { return row(http_method::get, pattern); };
    refused({get_row("models")});
    refused({get_row("")});
    refused({get_row("/models/{}")});
    refused({get_row("/models/{...}")});
    refused({get_row("/models/{id}/{id}")});
    refused({get_row("/{rest...}/more")});
    refused({get_row("/models/{id")});
    refused({get_row("/models/x{id}")});
    refused({get_row("/a%20b")});
    refused({get_row("/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}")});
    refused({get_row("/models/{name}"), get_row("/models/{other}")});
    route without = get_row("/nothing");
    without.kind = write_row{};
    refused({without});
    route late = get_row("/late");
    late.deadline_ms = 0;
    refused({late});
    // Nothing would refuse anybody else: the rule of a command does.
    route unprotected = get_row("/administrators");
    unprotected.who = authentication::system_administrator;
    EXPECT_NO_THROW(router{std::vector{unprotected}});
    unprotected.kind = read_row{
        [](reading_call&) -> result<runtime::http::http_response> { return runtime::http::http_response{}; }};
    refused({unprotected});
    route unjudged = get_row("/signed");
    unjudged.kind =
        streamed_row{[](streamed_call&) -> boost::asio::awaitable<result<runtime::http::http_response>> {
            co_return runtime::http::http_response{};
        }};
    refused({unjudged});
}

}  // namespace
}  // namespace herald::test
