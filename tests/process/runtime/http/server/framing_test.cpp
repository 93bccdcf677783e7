// Protects callers from one another: anything that is not one clearly framed request is refused, the
// connection ends, and nothing that follows is ever taken for a request (http.md §2).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/process/runtime/http/server/client.hpp"

namespace herald::test {
namespace {

using namespace runtime::http::server;

struct vector {
    const char* name;
    std::string bytes;
    int status = 400;
};

void PrintTo(const vector& shown, std::ostream* out) { *out << shown.name; }

std::string post(std::string_view lines, std::string_view body) {
    return "POST /echo HTTP/1.1\r\nHost: herald\r\n" + std::string(lines) + "\r\n" + std::string(body);
}

std::string chunked(std::string_view body) { return post("Transfer-Encoding: chunked\r\n", body); }

const std::string hidden = "GET /now HTTP/1.1\r\nHost: smuggled\r\n\r\n";

std::vector<vector> refused() {
    using namespace std::string_literals;
    return {
        {"transfer_encoding_gzip_alone", post("Transfer-Encoding: gzip\r\n", "")},
        {"transfer_encoding_identity", post("Transfer-Encoding: identity\r\n", "")},
        {"transfer_encoding_identity_beside_content_length",
         post("Transfer-Encoding: identity\r\nContent-Length: 3\r\n", "abc")},
        {"transfer_encoding_gzip_then_chunked", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n")},
        {"transfer_encoding_chunked_then_gzip", post("Transfer-Encoding: chunked, gzip\r\n", "0\r\n\r\n")},
        {"transfer_encoding_chunked_twice_in_a_list",
         post("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n")},
        {"transfer_encoding_list_with_identity",
         post("Transfer-Encoding: identity, chunked\r\n", "0\r\n\r\n")},
        {"transfer_encoding_twice",
         post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
        {"transfer_encoding_twice_identity_last",
         post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n")},
        {"transfer_encoding_empty", post("Transfer-Encoding:\r\n", "")},
        {"transfer_encoding_misspelt", post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n")},
        {"transfer_encoding_quoted", post("Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n")},
        {"transfer_encoding_with_parameter", post("Transfer-Encoding: chunked;q=1\r\n", "0\r\n\r\n")},
        {"transfer_encoding_with_vertical_tab",
         post("Transfer-Encoding: \x0b"s + "chunked\r\n", "0\r\n\r\n")},
        {"transfer_encoding_in_http_1_0",
         "POST /echo HTTP/1.0\r\nHost: herald\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
        {"content_length_before_transfer_encoding",
         post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
        {"content_length_after_transfer_encoding",
         post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n")},
        {"content_length_twice_equal", post("Content-Length: 5\r\nContent-Length: 5\r\n", "hello")},
        {"content_length_twice_different", post("Content-Length: 5\r\nContent-Length: 6\r\n", "hello!")},
        {"content_length_list_equal", post("Content-Length: 5, 5\r\n", "hello")},
        {"content_length_list_different", post("Content-Length: 5, 6\r\n", "hello!")},
        {"content_length_negative", post("Content-Length: -1\r\n", "")},
        {"content_length_plus", post("Content-Length: +5\r\n", "hello")},
        {"content_length_hexadecimal", post("Content-Length: 0x5\r\n", "hello")},
        {"content_length_fraction", post("Content-Length: 5.0\r\n", "hello")},
        {"content_length_empty", post("Content-Length:\r\n", "")},
        {"content_length_text", post("Content-Length: five\r\n", "hello")},
        {"content_length_with_space_inside", post("Content-Length: 5 0\r\n", "hello")},
        {"content_length_beyond_64_bits", post("Content-Length: 18446744073709551616\r\n", "hello")},
        {"content_length_that_wraps_to_five", post("Content-Length: 18446744073709551621\r\n", "hello")},
        {"host_missing", "GET /now HTTP/1.1\r\n\r\n"},
        {"host_twice", "GET /now HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"},
        {"host_twice_equal", "GET /now HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"},
        {"host_twice_in_http_1_0", "GET /now HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"},
        {"host_empty", "GET /now HTTP/1.1\r\nHost:\r\n\r\n"},
        {"host_list", "GET /now HTTP/1.1\r\nHost: a, b\r\n\r\n"},
        {"host_with_path", "GET /now HTTP/1.1\r\nHost: a/b\r\n\r\n"},
        {"host_with_user", "GET /now HTTP/1.1\r\nHost: user@a\r\n\r\n"},
        {"host_with_port_that_is_none", "GET /now HTTP/1.1\r\nHost: a:b\r\n\r\n"},
        {"host_with_port_only", "GET /now HTTP/1.1\r\nHost: :80\r\n\r\n"},
        {"host_with_bytes_above_ascii", "GET /now HTTP/1.1\r\nHost: \xc3\xa4\r\n\r\n"},
        {"header_folded_with_space", get("/now", "X-Long: one\r\n two\r\n")},
        {"header_folded_with_tab", get("/now", "X-Long: one\r\n\ttwo\r\n")},
        {"header_folded_and_empty", get("/now", "X-Long:\r\n \r\n")},
        {"header_folded_to_hide_transfer_encoding", post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n")},
        {"header_folded_in_first_line", "GET /now HTTP/1.1\r\n X: 1\r\nHost: herald\r\n\r\n"},
        {"header_with_space_before_colon", post("Content-Length : 5\r\n", "hello")},
        {"header_with_tab_before_colon", post("Transfer-Encoding\t: chunked\r\n", "0\r\n\r\n")},
        {"header_without_colon", get("/now", "X-Nothing\r\n")},
        {"header_without_name", get("/now", ": value\r\n")},
        {"header_name_with_byte_above_ascii", get("/now", "X-\xc3\xa4: 1\r\n")},
        {"header_name_in_brackets", get("/now", "X[1]: 1\r\n")},
        {"header_value_with_nul", get("/now", "X-Nul: a\0b\r\n"s)},
        {"header_value_with_bare_carriage_return", get("/now", "X-Cr: a\rb\r\n")},
        {"header_value_with_bare_line_feed", get("/now", "X-Lf: a\nContent-Length: 3\r\n")},
        {"header_lines_end_with_line_feed_only", "GET /now HTTP/1.1\nHost: herald\n\n"},
        {"target_absolute_of_another_scheme", "GET ftp://herald/now HTTP/1.1\r\nHost: herald\r\n\r\n"},
        {"target_absolute_without_host", "GET http:///now HTTP/1.1\r\nHost: herald\r\n\r\n"},
        {"target_absolute_with_user", "GET http://user@herald/now HTTP/1.1\r\nHost: herald\r\n\r\n"},
        {"target_absolute_without_host_field", "GET http://herald/now HTTP/1.1\r\n\r\n"},
        {"target_authority", "CONNECT herald:80 HTTP/1.1\r\nHost: herald\r\n\r\n"},
        {"target_asterisk_of_another_method", "GET * HTTP/1.1\r\nHost: herald\r\n\r\n"},
        {"target_without_slash", get("now")},
        {"target_with_fragment", get("/now#part")},
        {"target_with_bytes_above_ascii", get("/n\xc3\xb6w")},
        {"target_with_delete", get("/n\x7fow")},
        {"target_with_nul", get("/n\0ow"s)},
        {"target_with_tab", get("/n\tow")},
        {"target_with_space", get("/n ow")},
        {"target_missing", "GET HTTP/1.1\r\nHost: herald\r\n\r\n"},
        {"two_spaces_after_method", "GET  /now HTTP/1.1\r\nHost: herald\r\n\r\n"},
        {"version_0_9", "GET /now\r\n\r\n"},
        {"version_2_0", "GET /now HTTP/2.0\r\nHost: herald\r\n\r\n"},
        {"version_1_2", "GET /now HTTP/1.2\r\nHost: herald\r\n\r\n"},
        {"version_in_lower_case", "GET /now http/1.1\r\nHost: herald\r\n\r\n"},
        {"version_with_two_digits", "GET /now HTTP/1.10\r\nHost: herald\r\n\r\n"},
        {"http_2_preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
        {"tls_to_a_plain_port", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"s + std::string(64, 'r')},
        {"method_with_at_sign", "G@T /now HTTP/1.1\r\nHost: herald\r\n\r\n"},
        {"method_missing", " /now HTTP/1.1\r\nHost: herald\r\n\r\n"},
        {"two_empty_lines_first", "\r\n\r\n" + get("/now")},
        {"method_unknown", "BREW /now HTTP/1.1\r\nHost: herald\r\n\r\n", 501},
        {"method_connect", "CONNECT /now HTTP/1.1\r\nHost: herald\r\n\r\n", 501},
        {"method_in_lower_case", "get /now HTTP/1.1\r\nHost: herald\r\n\r\n", 501},
        {"chunk_size_missing", chunked("\r\nhello\r\n0\r\n\r\n")},
        {"chunk_size_no_number", chunked("x\r\nhello\r\n0\r\n\r\n")},
        {"chunk_size_negative", chunked("-5\r\nhello\r\n0\r\n\r\n")},
        {"chunk_size_with_prefix", chunked("0x5\r\nhello\r\n0\r\n\r\n")},
        {"chunk_size_with_space_before", chunked(" 5\r\nhello\r\n0\r\n\r\n")},
        {"chunk_size_beyond_64_bits", chunked("10000000000000005\r\nhello\r\n0\r\n\r\n")},
        {"chunk_size_line_ends_with_line_feed_only", chunked("5\nhello\r\n0\r\n\r\n")},
        {"chunk_longer_than_its_size", chunked("5\r\nhello!\r\n0\r\n\r\n")},
        {"chunk_shorter_than_its_size", chunked("5\r\nhell\r\n0\r\n\r\n")},
        {"chunk_without_line_end", chunked("5\r\nhello0\r\n\r\n")},
        {"chunk_extension_without_name", chunked("5;=1\r\nhello\r\n0\r\n\r\n")},
        {"chunk_extension_with_bare_carriage_return", chunked("5;a\rb\r\nhello\r\n0\r\n\r\n")},
        {"trailer_without_colon", chunked("0\r\nnothing\r\n\r\n")},
        {"trailer_with_content_length", chunked("0\r\nContent-Length: 5\r\n\r\n")},
        {"trailer_with_transfer_encoding", chunked("0\r\nTransfer-Encoding: chunked\r\n\r\n")},
        {"expectation_unknown", post("Expect: a-miracle\r\nContent-Length: 0\r\n", ""), 417},
        {"expectation_twice",
         post("Expect: 100-continue\r\nExpect: 100-continue\r\nContent-Length: 0\r\n", ""), 417},
    };
}

class refused_framing : public ::testing::TestWithParam<vector> {};

TEST_P(refused_framing, is_answered_with_an_error_and_nothing_after_it_is_read) {
    running_server server;
    const std::string all = server.exchange(GetParam().bytes + hidden);
    EXPECT_EQ(all.substr(0, 13), "HTTP/1.1 " + std::to_string(GetParam().status) + " ") << all;
    EXPECT_EQ(answers_in(all), 1u) << all;
    EXPECT_NE(all.find("\r\nconnection: close\r\n"), std::string::npos) << all;
    EXPECT_NE(all.find("\r\nsvc-request-id: "), std::string::npos) << all;
    EXPECT_NE(all.find("\"details\":[]}"), std::string::npos) << all;
    EXPECT_EQ(server.handler.handled, 0);
}

TEST_P(refused_framing, is_refused_the_same_when_it_comes_byte_by_byte) {
    running_server server;
    client caller = server.connect();
    for (const char byte : GetParam().bytes + hidden)
        if (!caller.try_send({&byte, 1})) break;
    caller.finish();
    EXPECT_EQ(caller.receive().status, GetParam().status);
    EXPECT_TRUE(caller.is_closed());
    EXPECT_EQ(server.handler.handled, 0);
}

INSTANTIATE_TEST_SUITE_P(all, refused_framing, ::testing::ValuesIn(refused()),
                         [](const auto& info) { return info.param.name; });

// A header that never ends but is already wrong: no need to wait for the rest.
TEST(header_in_pieces, that_has_a_bare_line_end_is_refused_at_once) {
    using namespace std::string_literals;
    for (const std::string& bytes :
         {"GET /now HTTP/1.1\nHost: herald\n"s, "GET /now HTTP/1.1\r\nHost: herald\n"s,
          "GET /now HTTP/1.1\r\nHost: he\rrald"s, "GET /now HTTP/1.1\rH"s, "\nGET /now HTTP/1.1\r\n"s}) {
        server_options options;
        options.bounds.header_ms = 60'000;
        running_server server(options);
        client caller = server.connect();
        for (const char byte : bytes) caller.try_send({&byte, 1});
        EXPECT_EQ(caller.receive().status, 400) << bytes;
        EXPECT_TRUE(caller.is_closed());
    }
}

TEST(target, may_be_a_whole_url_whose_host_does_not_matter) {
    running_server server;
    client caller = server.connect();
    const auto asked = [&](std::string_view target) {
        caller.send("GET " + std::string(target) + " HTTP/1.1\r\nHost: herald\r\n\r\n");
        const std::string body = caller.receive().body;
        return body.substr(0, body.find('\n'));
    };
    EXPECT_EQ(asked("http://herald/now"), "now");
    EXPECT_EQ(asked("HTTPS://[2001:db8::7]:8080/echo?a=http://b/c"), "GET /echo?a=http://b/c");
    EXPECT_EQ(asked("http://other:80/echo"), "GET /echo?");
    EXPECT_NE(asked("http://herald").find("nothing at /\""), std::string::npos);
    EXPECT_NE(asked("http://herald?q").find("nothing at /\""), std::string::npos);
    EXPECT_EQ(asked("/echo?u=http://herald/x"), "GET /echo?u=http://herald/x");
}

TEST(target, may_be_an_asterisk_for_options) {
    running_server server;
    client caller = server.connect();
    for (const std::string target : {"*", "http://herald"}) {
        caller.send("OPTIONS " + target + " HTTP/1.1\r\nHost: herald\r\n\r\n");
        EXPECT_NE(caller.receive().body.find("nothing at *\""), std::string::npos);
    }
}

struct accepted_vector {
    const char* name;
    std::string bytes;
    std::string body;  // as the handler saw it
};

void PrintTo(const accepted_vector& shown, std::ostream* out) { *out << shown.name; }

std::vector<accepted_vector> accepted() {
    return {
        {"content_length", post("Content-Length: 5\r\n", "hello"), "hello"},
        {"content_length_zero", post("Content-Length: 0\r\n", ""), ""},
        {"content_length_with_leading_zeros", post("Content-Length: 005\r\n", "hello"), "hello"},
        {"no_body_at_all", post("", ""), ""},
        {"one_chunk", chunked("5\r\nhello\r\n0\r\n\r\n"), "hello"},
        {"several_chunks", chunked("1\r\nh\r\n2\r\nel\r\n2\r\nlo\r\n0\r\n\r\n"), "hello"},
        {"no_chunk", chunked("0\r\n\r\n"), ""},
        {"chunk_size_with_leading_zeros", chunked("0005\r\nhello\r\n00\r\n\r\n"), "hello"},
        {"chunk_size_in_capitals", chunked("A\r\n0123456789\r\n0\r\n\r\n"), "0123456789"},
        {"chunk_extensions", chunked("5;a;b=1;c=\"x y\"\r\nhello\r\n0;end\r\n\r\n"), "hello"},
        {"trailers", chunked("5\r\nhello\r\n0\r\nX-Sum: 1\r\nHost: other\r\n\r\n"), "hello"},
        {"chunk_that_looks_like_framing", chunked("7\r\n0\r\n\r\nab\r\n0\r\n\r\n"), "0\r\n\r\nab"},
        {"transfer_encoding_in_capitals", post("TRANSFER-ENCODING: CHUNKED\r\n", "5\r\nhello\r\n0\r\n\r\n"),
         "hello"},
        {"one_empty_line_first", "\r\n" + post("Content-Length: 5\r\n", "hello"), "hello"},
        {"header_values_above_ascii", post("X-Name: \xc3\xa4\r\nContent-Length: 5\r\n", "hello"), "hello"},
        {"host_with_port", "POST /echo HTTP/1.1\r\nHost: herald.example:8080\r\nContent-Length: 1\r\n\r\nx",
         "x"},
        {"host_is_ipv6", "POST /echo HTTP/1.1\r\nHost: [2001:db8::7]:8080\r\nContent-Length: 1\r\n\r\nx",
         "x"},
    };
}

class accepted_framing : public ::testing::TestWithParam<accepted_vector> {
  protected:
    static void expect_body_and_next(client& caller) {
        const answer first = caller.receive();
        EXPECT_EQ(first.status, 200) << first.body;
        EXPECT_TRUE(first.body.ends_with("\n" + GetParam().body)) << first.body;
        EXPECT_EQ(first.body.find("X-Sum"), std::string::npos) << "a trailer became a header";
        EXPECT_EQ(caller.receive().body, "now");
    }
};

TEST_P(accepted_framing, gives_the_handler_the_body_and_leaves_what_follows) {
    running_server server;
    client caller = server.connect();
    caller.send(GetParam().bytes + get("/now"));
    expect_body_and_next(caller);
}

TEST_P(accepted_framing, means_the_same_when_it_comes_byte_by_byte) {
    running_server server;
    client caller = server.connect();
    for (const char byte : GetParam().bytes + get("/now")) caller.send({&byte, 1});
    expect_body_and_next(caller);
}

INSTANTIATE_TEST_SUITE_P(all, accepted_framing, ::testing::ValuesIn(accepted()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace herald::test
