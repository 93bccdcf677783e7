// Protects the framing of answers: a client never takes an incomplete body for a whole one.
#include "runtime/http/server/outgoing_answer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "runtime/http/body.hpp"

namespace herald::test {
namespace {

using namespace runtime::http::server;
using runtime::http::body_stream;

class no_body final : public body_stream {
  public:
    boost::asio::awaitable<result<std::string_view>> next() override { co_return std::string_view(); }
};

/// Takes everything that is to be sent, and marks it as sent.
std::string take(outgoing_answer& from, std::size_t bytes_at_once = 1) {
    std::string out;
    while (!from.is_sent()) {
        std::string next;
        for (const auto& part : from.unsent())
            next.append(static_cast<const char*>(part.data()), part.size());
        out += next.substr(0, bytes_at_once);
        from.sent(std::min(bytes_at_once, next.size()));
    }
    return out;
}

class outgoing : public ::testing::Test {
  protected:
    std::string head_of(answer_form form) {
        answer.begin(form);
        answer.write_head(writer, {"id", {}, form.is_http_1_0, false});
        return take(answer);
    }

    response_writer writer{{"svc-"}};
    outgoing_answer answer;
};

TEST_F(outgoing, goes_out_whole_in_whatever_pieces_it_is_taken) {
    for (const std::size_t body : {std::size_t{10}, 2 * outgoing_answer::body_bytes_copied_max}) {
        answer.get().body.assign(body, 'x');
        const std::string text = head_of({});
        EXPECT_NE(text.find("content-length: " + std::to_string(body) + "\r\n"), text.npos);
        EXPECT_TRUE(text.ends_with("\r\n\r\n" + std::string(body, 'x')));
        answer.clear();
        EXPECT_TRUE(answer.get().body.empty());
    }
}

TEST_F(outgoing, leaves_nothing_behind_for_the_next) {
    answer.get().status = 403;
    answer.get().headers.push_back({"x-one", "1"});
    answer.get().head_lines = "x-two: 2\r\n";
    answer.get().id_also_as = "x-three";
    answer.get().content_type = "text/plain";
    head_of({});
    answer.clear();
    const std::string text = head_of({});
    EXPECT_TRUE(text.starts_with("HTTP/1.1 200"));
    for (const char* const left : {"x-one", "x-two", "x-three", "text/plain"})
        EXPECT_EQ(text.find(left), text.npos) << text;
}

TEST_F(outgoing, has_no_body_for_HEAD_and_for_statuses_without_one) {
    answer.get().body = "body";
    EXPECT_TRUE(head_of({.is_to_head = true}).ends_with("\r\n\r\n"));
    answer.get().status = 204;
    EXPECT_TRUE(head_of({}).ends_with("\r\n\r\n"));
    answer.get().stream = std::make_shared<no_body>();
    answer.begin({});
    EXPECT_FALSE(answer.is_streaming());
}

TEST_F(outgoing, pieces_of_unknown_length_are_chunks_and_the_empty_one_ends_them) {
    answer.get().stream = std::make_shared<no_body>();
    EXPECT_NE(head_of({}).find("transfer-encoding: chunked\r\n"), std::string::npos);
    EXPECT_FALSE(answer.ends_with_connection());
    std::string body;
    for (const char* piece : {"abc", "defghijklmnopqrst", ""}) {
        ASSERT_TRUE(answer.write_piece(piece));
        body += take(answer, 2);
    }
    EXPECT_EQ(body, "3\r\nabc\r\n11\r\ndefghijklmnopqrst\r\n0\r\n\r\n");
    EXPECT_EQ(answer.body_bytes(), 20u);
}

TEST_F(outgoing, pieces_are_refused_that_are_not_what_the_head_has_promised) {
    answer.get().stream = std::make_shared<no_body>();
    answer.get().stream_bytes = 3;
    head_of({});
    EXPECT_TRUE(answer.write_piece("ab"));
    take(answer);
    EXPECT_FALSE(answer.write_piece("")) << "too few";
    EXPECT_FALSE(answer.write_piece("cd")) << "too many";
    head_of({});
    EXPECT_TRUE(answer.write_piece("abc"));
    EXPECT_EQ(take(answer), "abc");
    EXPECT_TRUE(answer.write_piece(""));
}

TEST_F(outgoing, a_stream_to_HTTP_1_0_ends_with_the_connection_unless_its_length_is_known) {
    answer.get().stream = std::make_shared<no_body>();
    EXPECT_EQ(head_of({.is_http_1_0 = true}).find("transfer-encoding"), std::string::npos);
    EXPECT_TRUE(answer.ends_with_connection());
    EXPECT_TRUE(answer.write_piece("abc"));
    EXPECT_EQ(take(answer), "abc");
    answer.get().stream_bytes = 3;
    EXPECT_FALSE(answer.ends_with_connection());
}

}  // namespace
}  // namespace herald::test
