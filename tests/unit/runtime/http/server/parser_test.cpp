// Protects the handler's view of a request: it is the same however the bytes are cut, and the buffer stays
// small. (What must be refused is tried through a socket:
// tests/process/runtime/http/server/framing_test.cpp.)
#include "runtime/http/server/parser.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "runtime/random.hpp"

namespace herald::test {
namespace {

using namespace runtime::http::server;

using progress = request_parser::progress;

void give(request_parser& parser, std::string_view bytes) {
    while (!bytes.empty()) {
        const std::span<char> space = parser.space();
        ASSERT_FALSE(space.empty());
        const std::size_t count = std::min(space.size(), bytes.size());
        std::copy_n(bytes.data(), count, space.data());
        parser.received(count);
        bytes.remove_prefix(count);
    }
}

// What the handler would see of every request in `bytes`, which arrive in random pieces.
std::string seen(std::string_view bytes, std::uint64_t seed) {
    runtime::seeded_random random(seed);
    request_parser parser;
    std::string out;
    for (;;) {
        switch (parser.advance()) {
            case progress::need_more: {
                if (bytes.empty()) return out;
                const std::size_t piece =
                    std::min<std::size_t>(bytes.size(), 1 + random.below(seed % 2 ? 8 : 5'000));
                give(parser, bytes.substr(0, piece));
                bytes.remove_prefix(piece);
                break;
            }
            case progress::head:
                parser.allow_body(1'000'000);
                break;
            case progress::complete: {
                const request& got = parser.get();
                out += std::string(name_of(got.method)) + " " + std::string(got.path) + " ? " +
                       std::string(got.query);
                for (const header_view& field : got.headers)
                    out += "|" + std::string(field.name) + "=" + std::string(field.value);
                out +=
                    "|" + std::to_string(got.body.size()) + " " + std::string(got.body.substr(0, 40)) + "\n";
                parser.next();
                break;
            }
            case progress::failed:
                return out + "failed: " + parser.failure().message;
        }
    }
}

std::string chunk(std::string_view data) {
    std::array<char, 20> size{};
    std::snprintf(size.data(), size.size(), "%zX\r\n", data.size());
    return size.data() + std::string(data) + "\r\n";
}

TEST(request_parser, sees_the_same_however_the_bytes_are_cut) {
    std::string large;
    for (int i = 0; i < 30'000; ++i) large += std::to_string(i);
    std::string bytes;
    for (int i = 0; i < 3; ++i) {
        bytes += "GET /a?x=" + std::to_string(i) + " HTTP/1.1\r\nHost: h\r\nX-A:  b \r\n\r\n";
        bytes += "POST /small HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello";
        bytes += "PUT /large HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(large.size()) +
                 "\r\n\r\n" + large;
        bytes += "PATCH /chunks HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(large) +
                 chunk("and") + chunk(" more") + "0\r\nX-Trailer: t\r\n\r\n";
    }
    const std::string whole = seen(bytes, 2);
    EXPECT_EQ(std::count(whole.begin(), whole.end(), '\n'), 12);
    EXPECT_NE(whole.find("GET /a ? x=2|Host=h|X-A=b|0 \n"), std::string::npos) << whole;
    EXPECT_NE(
        whole.find("PATCH /chunks ? |Host=h|Transfer-Encoding=chunked|" + std::to_string(large.size() + 8)),
        std::string::npos)
        << whole;
    for (std::uint64_t seed = 0; seed < 12; ++seed) EXPECT_EQ(seen(bytes, seed), whole) << "seed " << seed;
}

TEST(request_parser, takes_a_body_without_data_byte_by_byte) {
    const std::string head = "POST /empty HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (const std::string body : {"0\r\n\r\n", "000\r\nX-Trailer: t\r\n\r\n"}) {
        request_parser parser;
        give(parser, head);
        ASSERT_EQ(parser.advance(), progress::head);
        parser.allow_body(10);
        for (std::size_t at = 0; at < body.size(); ++at) {
            ASSERT_EQ(parser.advance(), progress::need_more) << at;
            give(parser, body.substr(at, 1));
        }
        ASSERT_EQ(parser.advance(), progress::complete);
        EXPECT_EQ(parser.get().body, "");
    }
}

TEST(request_parser, needs_no_more_room_than_the_body_for_a_body_in_chunks) {
    request_parser parser;
    give(parser, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
    ASSERT_EQ(parser.advance(), progress::head);
    parser.allow_body(100'000);
    std::size_t space_max = 0;
    for (int i = 0; i < 50'000; ++i) {
        give(parser, "1;extension=1\r\nb\r\n");
        if (i < 1'500) {
            ASSERT_EQ(parser.advance(), progress::need_more);
            space_max = std::max(space_max, parser.space().size());
        } else if (parser.advance() == progress::failed) {
            EXPECT_EQ(parser.failure().http_status_override, 413);
            EXPECT_LE(space_max, 16u * 1024);
            return;
        }
    }
    ADD_FAILURE() << "framing without end was accepted";
}

TEST(request_parser, bounds_framing_alike_however_the_bytes_are_cut) {
    const std::string extension = ";e=" + std::string(9'000, 'e') + "\r\n";
    const std::string bytes = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1" +
                              extension + "b\r\nbb8" + extension + std::string(3'000, 'b') + "\r\n0\r\n\r\n";
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        EXPECT_EQ(seen(bytes, seed), "failed: too many bytes of chunk sizes, extensions and trailers")
            << seed;
}

TEST(request_parser, gives_room_back_after_a_large_body) {
    request_parser parser;
    give(parser, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n");
    ASSERT_EQ(parser.advance(), progress::head);
    parser.allow_body(1'000'000);
    give(parser, std::string(1'000'000, 'b'));
    ASSERT_EQ(parser.advance(), progress::complete);
    parser.next();
    EXPECT_LE(parser.space().size(), 64u * 1024);
}

TEST(request_parser, gives_room_back_although_more_follows_a_large_body) {
    request_parser parser;
    give(parser, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
    ASSERT_EQ(parser.advance(), progress::head);
    ASSERT_TRUE(parser.allow_body(4'000'000));
    give(parser, chunk(std::string(1'100'000, 'x')));
    ASSERT_EQ(parser.advance(), progress::need_more);
    const std::string next = "GET /next HTTP/1.1\r\nHost: h\r\nX: " + std::string(6'000, 'y');
    give(parser, "0\r\n\r\n" + next);
    ASSERT_EQ(parser.advance(), progress::complete);
    parser.next();
    EXPECT_LT(parser.space().size(), 100'000u);
    give(parser, "\r\n\r\n");
    ASSERT_EQ(parser.advance(), progress::complete);
    EXPECT_EQ(parser.get().path, "/next");
    EXPECT_EQ(parser.get().header("x")->size(), 6'000u);
}

TEST(request_parser, keeps_the_head_of_a_request_whose_body_is_dropped) {
    request_parser parser;
    give(parser, "POST /some?q=1 HTTP/1.1\r\nHost: h\r\nX-A: b\r\nContent-Length: 900000\r\n\r\n");
    ASSERT_EQ(parser.advance(), progress::head);
    ASSERT_TRUE(parser.allow_body(1'000'000));
    give(parser, std::string(800'000, 'x'));
    ASSERT_EQ(parser.advance(), progress::need_more);
    parser.drop_body();
    EXPECT_LT(parser.held_bytes(), 100u);
    EXPECT_LT(parser.space().size(), 10'000u);
    EXPECT_EQ(parser.get().path, "/some");
    EXPECT_EQ(parser.get().query, "q=1");
    EXPECT_EQ(parser.get().header("x-a"), "b");
    EXPECT_TRUE(parser.get().body.empty());
    EXPECT_TRUE(parser.has_head());
}

TEST(request_parser, refuses_lines_of_chunks_that_end_in_a_line_feed_alone_and_waits_for_no_more) {
    const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (const std::string& body :
         {std::string("5\nhello\n0\n\n"), std::string("5\nhello\r\n0\r\n\r\n"), std::string("5\n"),
          std::string("5;a=b\nhello"), chunk("hello") + "0\n\n", chunk("hello") + "0\r\nX: y\n\n",
          std::string("5\r\nhello\n0\r\n\r\n"), std::string("\n")}) {
        for (const bool is_in_pieces : {false, true}) {
            request_parser parser;
            give(parser, head);
            ASSERT_EQ(parser.advance(), progress::head);
            ASSERT_TRUE(parser.allow_body(1'000));
            auto how = progress::need_more;
            if (!is_in_pieces) give(parser, body);
            for (std::size_t i = 0; is_in_pieces && i < body.size() && how == progress::need_more; ++i) {
                give(parser, body.substr(i, 1));
                how = parser.advance();
            }
            if (!is_in_pieces) how = parser.advance();
            ASSERT_EQ(how, progress::failed) << body;
            EXPECT_EQ(http_status(parser.failure()), 400) << body;
        }
    }
    request_parser parser;
    give(parser, head);
    ASSERT_EQ(parser.advance(), progress::head);
    ASSERT_TRUE(parser.allow_body(1'000));
    give(parser, chunk("\n") + chunk("a\nb\n\n") + "0\r\nX: y\r\n\r\n");
    ASSERT_EQ(parser.advance(), progress::complete) << "line feeds in the data";
    EXPECT_EQ(parser.get().body, "\na\nb\n\n");
}

TEST(request_parser, says_what_would_be_right) {
    const auto why = [](std::string_view text) {
        request_parser parser;
        give(parser, text);
        EXPECT_EQ(parser.advance(), progress::failed) << text;
        return parser.failure().message;
    };
    EXPECT_NE(why("GET / HTTP/1.1\nHost: h\n\n").find("end in CR LF"), std::string::npos);
    EXPECT_NE(why("GET / HTTP/one\r\nHost: h\r\n\r\n").find("METHOD /target HTTP/1.1"), std::string::npos);
    EXPECT_NE(why("GET / HTTP/1.1\r\nHost : h\r\n\r\n").find("directly before the colon"), std::string::npos);
    EXPECT_NE(why("GET / HTTP/1.1\r\nHost: h\r\nX: a\x01\r\n\r\n").find("without control characters"),
              std::string::npos);
}

TEST(request_parser, is_idle_until_the_first_byte) {
    request_parser parser;
    EXPECT_TRUE(parser.is_idle());
    EXPECT_EQ(parser.advance(), progress::need_more);
    give(parser, "G");
    EXPECT_FALSE(parser.is_idle());
    EXPECT_EQ(parser.advance(), progress::need_more);
    give(parser, "ET / HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(parser.advance(), progress::complete);
    EXPECT_TRUE(parser.keep_alive());
    parser.next();
    EXPECT_TRUE(parser.is_idle());
}

TEST(request, finds_headers_in_any_case_and_the_first_of_several) {
    request_parser parser;
    give(parser, "GET / HTTP/1.1\r\nHost: h\r\nX-Two: a\r\nx-two: b\r\n\r\n");
    ASSERT_EQ(parser.advance(), progress::complete);
    EXPECT_EQ(parser.get().header("x-TWO"), "a");
    EXPECT_EQ(parser.get().header("host"), "h");
    EXPECT_FALSE(parser.get().header("x-tw"));
}

}  // namespace
}  // namespace herald::test
