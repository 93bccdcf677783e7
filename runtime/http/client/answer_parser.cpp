// The only part of Beast that the client uses: its incremental parser, set to keep little.
#include "runtime/http/client/answer_parser.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/http/limits.hpp"
#include "runtime/text.hpp"

namespace herald::runtime::http::client {

namespace {

namespace http = boost::beast::http;
using boost::system::error_code;
using runtime::equals_ignoring_case;
using text_view = boost::beast::string_view;

constexpr const char* header_too_long =
    "the header of the answer, interim answers included, is longer than 16 KiB";

constexpr std::string_view version_begin = "HTTP/1.";

/// Collects one message, interim or final.
class message_parser final : public http::basic_parser<false> {
  public:
    /// Keeps at most `room_bytes` of the body at once.
    explicit message_parser(std::size_t room_bytes) : x_room_bytes(room_bytes) {}

    std::vector<header> headers;
    std::string body;
    std::uint64_t body_bytes = 0;  // in total
    bool body_cut = false;

    bool framed_by_itself() const {
        const auto count = [&](std::string_view name) {
            return std::count_if(headers.begin(), headers.end(),
                                 [&](const auto& one) { return equals_ignoring_case(one.name, name); });
        };
        const auto lengths = count("content-length");
        const auto codings = count("transfer-encoding");
        if (x_status == 204 || x_status == 304) return true;  // without a body, whatever the header says
        return chunked() ? codings == 1 && lengths == 0 : codings == 0 && lengths == 1;
    }
    bool is_version_1_1() const { return x_version == 11; }
    int status_code() const { return x_status; }

  private:
    void on_request_impl(http::verb, text_view, text_view, int, error_code&) override {}
    void on_response_impl(int code, text_view, int version, error_code&) override {
        x_status = code;
        x_version = version;
    }
    void on_field_impl(http::field, text_view name, text_view value, error_code&) override {
        if (x_header_done) return;  // a trailer
        headers.push_back({std::string(name), std::string(value)});
    }
    void on_header_impl(error_code&) override { x_header_done = true; }
    void on_body_init_impl(boost::optional<std::uint64_t> const&, error_code&) override {}
    std::size_t on_body_impl(text_view bytes, error_code&) override { return keep(bytes); }
    void on_chunk_header_impl(std::uint64_t, text_view, error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, text_view bytes, error_code&) override {
        return keep(bytes);
    }
    void on_finish_impl(error_code&) override {}

    std::size_t keep(text_view bytes) {
        const std::size_t room = x_room_bytes - body.size();
        body.append(bytes.substr(0, std::min(room, bytes.size())));
        body_cut = bytes.size() > room;
        body_bytes += bytes.size();
        return bytes.size();
    }

    std::size_t x_room_bytes;
    int x_status = 0;
    int x_version = 0;
    bool x_header_done = false;
};

}  // namespace

class answer_parser::implementation {
  public:
    explicit implementation(const answer_form& form) : x_form(form) { start_message(); }

    progress feed(std::string_view bytes) {
        x_unread.append(bytes);
        std::size_t at = 0;
        const progress reached = read(at);
        x_unread.erase(0, at);
        return reached;
    }

    progress end() {
        if (!x_message->got_some() && x_unread.empty())
            return fail("the connection was closed before an answer came");
        if (!x_message->got_some()) return fail("the connection was closed in the middle of the answer");
        error_code ec;
        x_message->put_eof(ec);
        if (ec || !x_message->is_done()) return fail("the connection was closed in the middle of the answer");
        return progress::complete;
    }

    bool leaves_connection_usable() const {
        return x_message->is_done() && !x_message->body_cut && x_unread.empty() && !x_has_bare_line_end &&
               x_message->is_version_1_1() && x_message->keep_alive() && x_message->framed_by_itself();
    }

    bool has_head() const { return x_message->is_header_done() && x_message->status_code() >= 200; }

    std::optional<std::uint64_t> body_bytes() const {
        if (x_message->is_done()) return x_message->body_bytes;
        const auto said = x_message->content_length();
        return said ? std::optional<std::uint64_t>(*said) : std::nullopt;
    }

    std::optional<message_parser> x_message;
    std::string x_failure;
    bool x_is_asked_to_continue = false;

  private:
    bool is_streamed() const { return x_form.body != answer_body::collected; }

    void start_message() {
        x_message.emplace(is_streamed() ? std::numeric_limits<std::size_t>::max() : x_form.body_bytes_max);
        x_message->header_limit(limits::answer_header_bytes_max);
        x_message->body_limit(boost::none);
        x_message->skip(x_form.asked == http_method::head);
        x_mended_bytes = 0;
        x_has_status_line = x_has_whole_head = false;
    }

    /// Brings the lines of the head that have come whole, from `at` on, into the form that Beast takes, and
    /// returns how many bytes Beast may read.
    ///
    /// Servers send, and curl, Go, Java, Node and Python take, a status line without the space that stands
    /// before an empty reason (RFC 9112 §4), and whatever bytes in the reason, which means nothing: it is
    /// dropped. All but Node take lines that end in LF alone (RFC 9112 §2.2). Nothing of this says where the
    /// answer ends; what Beast refuses there stays refused.
    std::size_t mend_head(std::size_t at) {
        std::size_t line = at + x_mended_bytes;
        while (!x_has_whole_head) {
            const std::size_t end = x_unread.find('\n', line);
            if (end == std::string::npos) break;
            const bool is_bare = end == line || x_unread[end - 1] != '\r';
            if (is_bare) x_unread.insert(end, 1, '\r');
            x_has_bare_line_end = x_has_bare_line_end || is_bare;
            std::size_t bytes = (is_bare ? end : end - 1) - line;  // without the line's end
            if (!std::exchange(x_has_status_line, true)) {
                bytes = mend_status_line(line, bytes);
            } else if (bytes == 0) {
                x_has_whole_head = true;
            }
            line += bytes + 2;
        }
        x_mended_bytes = line - at;
        const std::string_view begun = std::string_view(x_unread).substr(at);
        const bool is_other =
            !x_has_status_line && !version_begin.starts_with(begun.substr(0, version_begin.size()));
        return is_other ? begun.size() : x_mended_bytes;  // it says at once what is wrong
    }

    /// The new length of the line.
    std::size_t mend_status_line(std::size_t at, std::size_t bytes) {
        const std::string_view line = std::string_view(x_unread).substr(at, bytes);
        constexpr std::size_t code_at = version_begin.size() + 2, reason_at = code_at + 3;
        const auto is_digit = [](char one) { return '0' <= one && one <= '9'; };
        const bool is_sound = line.size() >= reason_at && line.starts_with(version_begin) &&
                              line[code_at - 1] == ' ' &&
                              std::all_of(line.begin() + code_at, line.begin() + reason_at, is_digit) &&
                              (line.size() == reason_at || line[reason_at] == ' ');
        if (!is_sound) return bytes;
        x_header_bytes += bytes - std::min(bytes, reason_at + 1);  // what is dropped was received, too
        x_unread.replace(at + reason_at, bytes - reason_at, " ");
        return reason_at + 1;
    }

    /// Continues reading at `at` in the unread bytes, and moves `at`.
    progress read(std::size_t& at) {
        while (true) {
            const bool in_header = !x_message->is_header_done();
            const std::size_t ready = in_header ? mend_head(at) : x_unread.size() - at;
            const std::size_t left = x_unread.size() - at;
            if (ready < bytes_needed()) return bounded(left);
            error_code ec;
            const std::size_t used = x_message->put(boost::asio::buffer(x_unread.data() + at, ready), ec);
            at += used;
            if (in_header) {
                x_header_bytes += used;
                x_mended_bytes -= std::min(used, x_mended_bytes);
            } else {
                x_after_header_bytes += used;
            }
            if (ec == http::error::header_limit) return fail(header_too_long);
            if (ec && ec != http::error::need_more) return fail("not a correct HTTP answer: " + ec.message());
            if (in_header && !is_header_sound()) return progress::failed;
            if (x_message->body_cut) return progress::complete;
            if (x_message->is_done()) {
                if (x_message->status_code() >= 200) return progress::complete;
                x_is_asked_to_continue |= x_message->status_code() == 100;
                start_message();  // that was an interim answer, which means nothing here
            } else if (ec || used == 0) {
                return bounded(left - used);
            }
        }
    }

    /// A chunked body ends with at least 5 bytes, and Beast asserts that it is given that many.
    std::size_t bytes_needed() const { return x_message->is_header_done() && x_message->chunked() ? 5 : 1; }

    progress fail(std::string why) {
        x_failure = std::move(why);
        return progress::failed;
    }

    bool is_header_sound() {
        if (x_header_bytes > limits::answer_header_bytes_max) fail(header_too_long);
        if (!x_message->is_header_done()) return x_failure.empty();
        const int status = x_message->status_code();
        if (status < 100) fail("status " + std::to_string(status) + " does not exist");
        if (status == 101) fail("the other side switched protocols, which was not asked for");
        return x_failure.empty();
    }

    /// The bytes so far are not enough: wait for more, unless a limit is reached.
    progress bounded(std::size_t unread_bytes) {
        if (!x_message->is_header_done()) {
            const bool within = x_header_bytes + unread_bytes <= limits::answer_header_bytes_max;
            return within ? progress::more : fail(header_too_long);
        }
        const std::uint64_t came = x_after_header_bytes + unread_bytes;
        if (is_streamed()) {
            const bool within = came <= 9 * x_message->body_bytes + limits::framing_bytes_max &&
                                unread_bytes <= limits::unread_framing_bytes_max;
            return within ? progress::more : fail("the answer has more framing than body");
        }
        // Chunk sizes, extensions and trailers included.
        const bool within =
            came <= 4 * std::max<std::uint64_t>(x_form.body_bytes_max, limits::framing_bytes_max);
        if (!within) x_message->body_cut = true;  // the status is known; the rest need not be read
        return within ? progress::more : progress::complete;
    }

    const answer_form x_form;
    std::string x_unread;
    std::size_t x_header_bytes = 0;
    std::uint64_t x_after_header_bytes = 0;
    std::size_t x_mended_bytes = 0;  // of the head: whole lines that Beast has not taken yet
    bool x_has_status_line = false;
    bool x_has_whole_head = false;
    bool x_has_bare_line_end = false;
};

answer_parser::answer_parser(const answer_form& form)
    : x_implementation(std::make_unique<implementation>(form)) {}
answer_parser::~answer_parser() = default;

answer_parser::progress answer_parser::feed(std::string_view bytes) { return x_implementation->feed(bytes); }
answer_parser::progress answer_parser::end() { return x_implementation->end(); }

bool answer_parser::has_head() const noexcept { return x_implementation->has_head(); }
std::optional<std::uint64_t> answer_parser::body_bytes() const noexcept {
    return x_implementation->body_bytes();
}
bool answer_parser::is_asked_to_continue() const noexcept { return x_implementation->x_is_asked_to_continue; }
bool answer_parser::is_cut() const noexcept { return x_implementation->x_message->body_cut; }
std::uint16_t answer_parser::status() const noexcept {
    return static_cast<std::uint16_t>(x_implementation->x_message->status_code());
}
std::vector<header>& answer_parser::headers() noexcept { return x_implementation->x_message->headers; }
std::string& answer_parser::body() noexcept { return x_implementation->x_message->body; }
const std::string& answer_parser::failure() const noexcept { return x_implementation->x_failure; }
bool answer_parser::leaves_connection_usable() const noexcept {
    return x_implementation->leaves_connection_usable();
}

}  // namespace herald::runtime::http::client
