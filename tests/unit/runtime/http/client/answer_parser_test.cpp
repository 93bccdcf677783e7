// Protects the worker from what receivers send: bounded, never trusted, and handled the same in whatever
// pieces it arrives.
#include "runtime/http/client/answer_parser.hpp"
#include "runtime/http/limits.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace herald::test {
namespace {

using namespace runtime::http::client;

using progress = answer_parser::progress;

constexpr std::size_t header_max = limits::answer_header_bytes_max;
constexpr std::size_t body_max = limits::answer_body_bytes_max;

enum class ending { stays_open, closes };

struct outcome {
    progress reached = progress::more;
    int status = 0;
    std::string body;
    bool usable = false;
    std::string failure;
};

outcome read_in_pieces(const std::string& text, std::size_t piece_bytes, ending how) {
    answer_parser parser;
    outcome out;
    for (std::size_t at = 0; at < text.size() && out.reached == progress::more; at += piece_bytes) {
        out.reached = parser.feed(std::string_view(text).substr(at, piece_bytes));
    }
    if (out.reached == progress::more && how == ending::closes) out.reached = parser.end();
    out.failure = parser.failure();
    if (out.reached != progress::complete) return out;
    out.status = parser.status();
    out.body = parser.body();
    out.usable = parser.leaves_connection_usable();
    return out;
}

/// Reads it as one piece, and checks that other pieces give the same.
outcome read(const std::string& text, ending how = ending::stays_open) {
    const outcome whole = read_in_pieces(text, text.size() + 1, how);
    for (const std::size_t bytes : {1u, 2u, 3u, 4u, 5u, 7u, 64u, 1000u}) {
        const outcome pieces = read_in_pieces(text, bytes, how);
        EXPECT_EQ(pieces.reached, whole.reached) << bytes << " bytes at a time: " << text.substr(0, 200);
        EXPECT_EQ(pieces.status, whole.status) << bytes;
        EXPECT_TRUE(pieces.body == whole.body) << bytes;
        EXPECT_EQ(pieces.failure.empty(), whole.failure.empty()) << bytes;
    }
    return whole;
}

const std::string ok = "HTTP/1.1 200 OK\r\n";

TEST(answer_parser, an_answer_that_frames_itself_leaves_the_connection_usable) {
    for (const std::string& text :
         {ok + "Content-Length: 2\r\n\r\nhi", ok + "content-length: 0\r\n\r\n",
          ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nh\r\n1;x=y\r\ni\r\n0\r\n\r\n",
          ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
          ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nTrailer: x\r\n\r\n",
          std::string("HTTP/1.1 204 No Content\r\n\r\n"), std::string("HTTP/1.1 304 Not Modified\r\n\r\n"),
          "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok +
              "Content-Length: 2\r\n\r\nhi"}) {
        const outcome out = read(text);
        EXPECT_EQ(out.reached, progress::complete) << text;
        EXPECT_TRUE(out.usable) << text;
    }
}

TEST(answer_parser, a_streamed_body_has_no_bound_but_its_framing_has) {
    const std::string head = ok + "Transfer-Encoding: chunked\r\n\r\n";
    const auto fed = [&](const std::string& chunk, int times) {
        answer_parser parser({.body = answer_body::streamed});
        progress reached = parser.feed(head);
        EXPECT_TRUE(parser.has_head());
        for (int i = 0; i < times && reached == progress::more; ++i) {
            reached = parser.feed(chunk);
            parser.body().clear();
        }
        return reached;
    };
    EXPECT_EQ(fed("400\r\n" + std::string(1024, 'x') + "\r\n", 100'000), progress::more);
    EXPECT_EQ(fed("1\r\nx\r\n", 100'000), progress::more) << "tiny chunks are legal";
    EXPECT_EQ(fed("1;" + std::string(1024, 'e') + "\r\nx\r\n", 100), progress::failed);
    EXPECT_EQ(fed("1;" + std::string(1024, 'e'), 100), progress::failed) << "one extension without end";
}

TEST(answer_parser, has_what_the_receiver_said) {
    answer_parser parser;
    ASSERT_EQ(
        parser.feed(
            "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 429 Too Many\r\n"
            "Retry-After: 7\r\nX: a\r\nX: b\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b!"),
        progress::complete);
    EXPECT_EQ(parser.status(), 429);
    EXPECT_EQ(parser.body(), "\x1f\x8b!") << "never decompressed";
    ASSERT_EQ(parser.headers().size(), 5u) << "without those of interim answers";
    EXPECT_EQ(parser.headers()[0].name, "Retry-After");
    EXPECT_EQ(parser.headers()[0].value, "7");
    EXPECT_EQ(parser.headers()[2].value, "b");
}

TEST(answer_parser, a_status_line_counts_whatever_its_reason) {
    const std::string rest = "\r\nContent-Length: 2\r\n\r\nhi";
    for (const std::string& line :
         {std::string("HTTP/1.1 200"), std::string("HTTP/1.1 200 "), std::string("HTTP/1.1 200  OK"),
          std::string("HTTP/1.1 200 d\xE9j\xE0 vu"), std::string("HTTP/1.1 200 O\x01K"),
          std::string("HTTP/1.1 200 \0", 14), std::string("HTTP/1.1 100\r\n\r\nHTTP/1.1 200")}) {
        const outcome out = read(line + rest);
        EXPECT_EQ(out.reached, progress::complete) << line << ": " << out.failure;
        EXPECT_EQ(out.status, 200) << line;
        EXPECT_EQ(out.body, "hi") << line;
        EXPECT_TRUE(out.usable) << line;
    }
    EXPECT_EQ(read("HTTP/1.0 503" + rest).status, 503);
    EXPECT_EQ(read("HTTP/1.1 410\r\n\r\n", ending::closes).status, 410);
    for (const std::string& line : {"HTTP/1.1 2000", "HTTP/1.1 20", "HTTP/1.1 ", "HTTP/1.1", "HTTP/1.1 200OK",
                                    "HTTP/1.1200 OK", "HTTP/1.1 2x0"})
        EXPECT_EQ(read(line + rest).reached, progress::failed) << line;
}

TEST(answer_parser, a_head_whose_lines_end_in_lf_alone_counts_and_ends_the_connection) {
    for (const std::string& text :
         {std::string("HTTP/1.1 200 OK\nContent-Length: 4\n\nh\n\ni"),
          std::string("HTTP/1.1 200\nContent-Length: 4\n\nh\n\ni"),
          std::string("HTTP/1.1 200 OK\r\nContent-Length: 4\n\r\nh\n\ni"),
          std::string("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n4\r\nh\n\ni\r\n0\r\n\r\n")}) {
        const outcome out = read(text);
        EXPECT_EQ(out.reached, progress::complete) << text << ": " << out.failure;
        EXPECT_EQ(out.body, "h\n\ni") << "a body is left as it is";
        EXPECT_FALSE(out.usable) << text;
    }
}

TEST(answer_parser, what_makes_the_end_of_an_answer_doubtful_stays_refused) {
    const std::string chunked = ok + "Transfer-Encoding: chunked\r\n\r\n";
    for (const std::string& text :
         {ok + "Content-Length: 2, 3\r\n\r\nhi", ok + "Content-Length: +2\r\n\r\nhi",
          ok + "Content-Length: 2\nContent-Length: 3\n\nhi", ok + "Content-Length : 2\r\n\r\nhi",
          ok + "Content-Length: 2\nTransfer-Encoding: chunked\n\n2\r\nhi\r\n0\r\n\r\n",
          chunked + "2\nhi\n0\n\n", std::string("HTTP/1.1 200\r\n Content-Length: 2\r\n\r\nhi")})
        EXPECT_FALSE(read(text, ending::closes).usable) << text;
    for (const std::string& text :
         {ok + "Content-Length: 2, 3\r\n\r\nhi", chunked + "2\nhi\n0\n\n",
          ok + "Content-Length: 2\nTransfer-Encoding: chunked\n\n2\r\nhi\r\n0\r\n\r\n"})
        EXPECT_EQ(read(text, ending::closes).reached, progress::failed) << text;
}

TEST(answer_parser, what_does_not_frame_itself_ends_the_connection) {
    for (const std::string& text :
         {ok + "Content-Length: 2\r\nConnection: close\r\n\r\nhi",
          ok + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi",
          std::string("HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nhi")}) {
        const outcome out = read(text);
        EXPECT_EQ(out.reached, progress::complete) << text;
        EXPECT_EQ(out.body, "hi");
        EXPECT_FALSE(out.usable) << text;
    }
    answer_parser more_than_said;
    EXPECT_EQ(more_than_said.feed(ok + "Content-Length: 2\r\n\r\nhi!"), progress::complete);
    EXPECT_FALSE(more_than_said.leaves_connection_usable());
    for (const std::string& text : {ok + "\r\nhi", ok + "Transfer-Encoding: gzip\r\n\r\nhi"}) {
        EXPECT_EQ(read(text).reached, progress::more) << text;
        const outcome closed = read(text, ending::closes);
        EXPECT_EQ(closed.reached, progress::complete) << text;
        EXPECT_FALSE(closed.usable) << text;
    }
}

TEST(answer_parser, what_is_not_http_is_a_failure) {
    for (const std::string& text :
         {std::string("hello there\r\n\r\n"), std::string("<html>hello</html>"),
          std::string("HTTP/2.0 200 OK\r\n\r\n"), std::string("HTTP/1.2 200 OK\r\n\r\n"),
          std::string("HTTP/1.1 20 OK\r\n\r\n"), std::string("HTTP/1.1 099 Low\r\n\r\n"),
          std::string("HTTP/1.1 101 Switching Protocols\r\n\r\n"), std::string("HTTP/1.1 abc OK\r\n\r\n"),
          ok + "no colon\r\n\r\n", ok + "a b: c\r\n\r\n", ok + "Content-Length: -1\r\n\r\n",
          ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nhi",
          ok + "Content-Length: 99999999999999999999\r\n\r\n",
          ok + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
          ok + "Transfer-Encoding: chunked\r\n\r\nx\r\nhi\r\n",
          ok + "Transfer-Encoding: chunked\r\n\r\n-2\r\nhi\r\n",
          ok + "Transfer-Encoding: chunked\r\n\r\n11111111111111111\r\nhi",
          std::string("\0\0\0\0\0\0\0\0", 8)}) {
        const outcome out = read(text, ending::closes);
        EXPECT_EQ(out.reached, progress::failed) << text;
        EXPECT_NE(out.failure, "") << text;
    }
}

TEST(answer_parser, an_answer_that_is_cut_is_a_failure) {
    for (const std::string& text :
         {std::string(), std::string("HTTP/1.1 20"), ok, ok + "Content-Length: 3\r\n",
          ok + "Content-Length: 3\r\n\r\nhi", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n",
          std::string("HTTP/1.1 100 Continue\r\n\r\n")}) {
        EXPECT_EQ(read(text).reached, progress::more) << text;
        EXPECT_EQ(read(text, ending::closes).reached, progress::failed) << text;
    }
}

TEST(answer_parser, a_header_of_16_kib_is_taken_and_one_byte_more_is_not) {
    const std::string before = ok + "X: ";
    const std::string after = "\r\nContent-Length: 0\r\n\r\n";
    const std::string fits(header_max - before.size() - after.size(), 'x');
    EXPECT_EQ(read(before + fits + after).reached, progress::complete);
    const outcome too_long = read(before + fits + "x" + after);
    EXPECT_EQ(too_long.reached, progress::failed);
    EXPECT_NE(too_long.failure.find("16 KiB"), std::string::npos);
}

TEST(answer_parser, endless_headers_and_interim_answers_end_at_16_kib) {
    std::string many = ok;
    for (int i = 0; i < 100'000; ++i) many += "X" + std::to_string(i) + ": y\r\n";
    EXPECT_EQ(read(many).reached, progress::failed);
    std::string interim;
    for (int i = 0; i < 100'000; ++i) interim += "HTTP/1.1 100 Continue\r\n\r\n";
    EXPECT_EQ(read(interim).reached, progress::failed);
    EXPECT_EQ(read(ok + "X: " + std::string(100'000, 'x')).reached, progress::failed);
    EXPECT_EQ(read("HTTP/1.1 200 " + std::string(100'000, 'x')).reached, progress::failed);
    EXPECT_EQ(read("HTTP/1.1 200 " + std::string(100'000, 'x') + "\r\n\r\n").reached, progress::failed);
    std::string reasons;
    for (int i = 0; i < 1'000; ++i) reasons += "HTTP/1.1 100 " + std::string(1'000, 'x') + "\r\n\r\n";
    EXPECT_EQ(read(reasons).reached, progress::failed) << "reasons count, too";
    EXPECT_EQ(read(std::string(100'000, 'H')).reached, progress::failed);
}

TEST(answer_parser, a_body_is_kept_up_to_16_kib_and_then_it_is_enough) {
    const outcome whole = read(ok + "Content-Length: 16384\r\n\r\n" + std::string(body_max, 'x'));
    EXPECT_EQ(whole.body.size(), body_max);
    EXPECT_TRUE(whole.usable);
    const std::string too_much(body_max + 5, 'x');  // no more than one feed beyond what is read
    for (const std::string& text :
         {ok + "Content-Length: 18446744073709551615\r\n\r\n" + too_much, ok + "\r\n" + too_much,
          ok + "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n" + too_much}) {
        const outcome cut = read(text);
        EXPECT_EQ(cut.reached, progress::complete);
        EXPECT_EQ(cut.status, 200);
        EXPECT_TRUE(cut.body == std::string(body_max, 'x'));
        EXPECT_FALSE(cut.usable);
    }
}

TEST(answer_parser, chunk_bombs_end_with_the_status) {
    std::string crumbs = ok + "Transfer-Encoding: chunked\r\n\r\n";
    for (int i = 0; i < 100'000; ++i) crumbs += "1\r\nx\r\n";
    std::string extensions = ok + "Transfer-Encoding: chunked\r\n\r\n1;" + std::string(100'000, 'x');
    std::string trailers = ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n";
    for (int i = 0; i < 100'000; ++i) trailers += "X: y\r\n";
    for (const std::string& text : {crumbs, extensions, trailers}) {
        answer_parser parser;
        progress reached = progress::more;
        std::size_t at = 0;
        for (; at < text.size() && reached == progress::more; at += 4096) {
            reached = parser.feed(std::string_view(text).substr(at, 4096));
        }
        EXPECT_EQ(reached, progress::complete);
        EXPECT_EQ(parser.status(), 200);
        EXPECT_LE(at, 80'000u) << "it read on for too long";
        EXPECT_FALSE(parser.leaves_connection_usable());
    }
}

}  // namespace
}  // namespace herald::test
