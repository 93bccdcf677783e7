#include "runtime/http/server/parser.hpp"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "runtime/assert.hpp"
#include "runtime/http/limits.hpp"
#include "runtime/http/server/head_rules.hpp"
#include "runtime/text.hpp"

namespace herald::runtime::http::server {
namespace {

namespace http = boost::beast::http;
using beast_error = boost::beast::error_code;

constexpr std::size_t buffer_bytes_first = 4 * 1024;
constexpr std::size_t buffer_bytes_kept = 64 * 1024;  // between requests
constexpr std::size_t read_bytes_min = 2 * 1024;
constexpr std::size_t chunked_bytes_min = 5;  // "0\r\n\r\n" ends a body, and Beast asserts on less

// A part of the request, as offsets from its first byte: the buffer moves when it grows.
struct place {
    std::size_t at = 0;
    std::size_t bytes = 0;
    std::string_view in(const char* base) const { return {base + at, bytes}; }
};

// A field that frames the message: how often it occurs, and the index of the last one.
struct special_field {
    std::size_t count = 0;
    std::size_t index = 0;
};

}  // namespace

// What Beast's parser found. Before each call it is told where the request's first byte is; it moves the data
// of chunks together behind the header.
struct request_parser::header_reader {
    class beast_parser final : public http::basic_parser<true> {
      public:
        explicit beast_parser(header_reader& owner) : x_owner(owner) {
            header_limit(std::numeric_limits<std::uint32_t>::max());  // our own limits count the whole header
            body_limit(boost::none);
        }

      private:
        using text = boost::beast::string_view;
        void on_request_impl(http::verb, text name, text wanted, int http_version, beast_error&) override {
            x_owner.method = known_method({name.data(), name.size()});
            x_owner.target = x_owner.where(wanted);
            x_owner.version = http_version;
        }
        void on_response_impl(int, text, int, beast_error&) override {}
        void on_field_impl(http::field name, text name_text, text value, beast_error& failed) override {
            x_owner.add_field(name, name_text, value, failed);
        }
        void on_header_impl(beast_error&) override {}
        void on_body_init_impl(const boost::optional<std::uint64_t>&, beast_error&) override {}
        std::size_t on_body_impl(text body, beast_error&) override { return body.size(); }
        void on_chunk_header_impl(std::uint64_t size, text extensions, beast_error& failed) override {
            const char* const end = extensions.data() + extensions.size() + 2;  // including the line's end
            if (x_owner.has_too_much_framing(x_owner.raw_bytes +
                                             static_cast<std::size_t>(end - x_owner.unread)))
                failed = http::error::header_limit;
            else if (size > x_owner.body_bytes_max - x_owner.body_bytes)
                failed = http::error::body_limit;
            x_owner.chunk_bytes_left = static_cast<std::size_t>(size);
        }
        std::size_t on_chunk_body_impl(std::uint64_t, text body, beast_error&) override {
            x_owner.chunk_bytes_left -= body.size();
            char* const end = x_owner.base + x_owner.body_at + x_owner.body_bytes - x_owner.dropped_bytes;
            std::memmove(end, body.data(), body.size());
            x_owner.body_bytes += body.size();
            return body.size();
        }
        void on_finish_impl(beast_error&) override {}

        header_reader& x_owner;
    };

    struct field {
        place name, value;
    };

    void restart() {
        parser.emplace(*this);
        field_count = 0;
        host = transfer_encoding = content_length = expect = {};
        body_at = body_bytes = body_bytes_max = raw_bytes = dropped_bytes = chunk_bytes_left = 0;
    }

    place where(std::string_view text) const {
        return {static_cast<std::size_t>(text.data() - base), text.size()};
    }

    void add_field(http::field name, std::string_view name_text, std::string_view value,
                   beast_error& failed) {
        if (parser->is_header_done()) return;  // a trailer: ignored
        if (field_count == fields.size()) {
            failed = http::error::header_limit;
            return;
        }
        if (special_field* special = find_special(name)) {
            ++special->count;
            special->index = field_count;
        }
        fields[field_count++] = {where(name_text), where(value)};
    }

    special_field* find_special(http::field name) {
        switch (name) {
            case http::field::host:
                return &host;
            case http::field::transfer_encoding:
                return &transfer_encoding;
            case http::field::content_length:
                return &content_length;
            case http::field::expect:
                return &expect;
            default:
                return nullptr;
        }
    }

    // Whether `raw` bytes of the chunked body are too many for the data in them.
    bool has_too_much_framing(std::size_t raw) const noexcept {
        return raw - body_bytes > limits::framing_bytes_max + 8 * body_bytes;
    }

    std::string_view value(const special_field& which) const { return fields[which.index].value.in(base); }

    std::optional<beast_parser> parser;
    char* base = nullptr;
    std::optional<http_method> method;  // empty: unknown
    place target;
    int version = 11;
    std::array<field, limits::request_header_fields_max> fields;
    std::size_t field_count = 0;
    special_field host, transfer_encoding, content_length, expect;
    // For a chunked body:
    std::size_t body_at = 0, body_bytes = 0, body_bytes_max = 0;
    std::size_t dropped_bytes = 0;  // part of body_bytes, no longer in the buffer
    std::size_t raw_bytes = 0;      // as received, up to `unread`
    std::size_t chunk_bytes_left = 0;
    const char* unread = nullptr;  // where the parser was told to continue
};

namespace {

// The right form, where Beast only says "bad".
std::string what_is_right(const beast_error& failed) {
    switch (static_cast<http::error>(failed.value())) {
        case http::error::bad_line_ending:
            return "each line must end in CR LF";
        case http::error::bad_method:
            return "the request line must begin with a method, as GET";
        case http::error::bad_target:
            return "after the method and one space there must be a target of visible ASCII, as /healthz";
        case http::error::bad_version:
            return "the request line must be METHOD /target HTTP/1.1, with single spaces, and end in CR LF";
        case http::error::bad_field:
            return "a header line must be Name: value, the name of letters, digits and - directly before the "
                   "colon";
        case http::error::bad_value:
            return "the value of a header must be without control characters";
        case http::error::bad_content_length:
        case http::error::multiple_content_length:
            return "Content-Length must be one field with one decimal number";
        case http::error::bad_transfer_encoding:
            return "Transfer-Encoding must be chunked, and without Content-Length";
        case http::error::bad_chunk:
            return "a chunk must be its size in hexadecimal digits, CR LF, that many bytes, CR LF";
        case http::error::bad_chunk_extension:
            return "an extension of a chunk must be ;name or ;name=value";
        default:
            return failed.message();
    }
}

}  // namespace

request_parser::request_parser() : x_reader(std::make_unique<header_reader>()) {
    x_reader->restart();
    make_room(buffer_bytes_first);
}

request_parser::~request_parser() = default;

// Moves the request to the front of a buffer with this many free bytes.
void request_parser::make_room(std::size_t bytes) {
    const std::size_t held = x_used - x_start;
    if (held + bytes <= x_capacity) {
        std::memmove(x_buffer.get(), begin(), held);
    } else {
        // Grows with the input, but not beyond a body of known size.
        std::size_t grown = 2 * x_capacity;
        if (x_stage == stage::sized_body) grown = std::min(grown, x_head_bytes + x_sized_body_bytes + bytes);
        const std::size_t capacity = std::max({buffer_bytes_first, grown, held + bytes});
        auto larger = std::make_unique_for_overwrite<char[]>(capacity);
        if (held > 0) std::memcpy(larger.get(), begin(), held);
        x_buffer = std::move(larger);
        x_capacity = capacity;
    }
    x_start = 0;
    x_used = held;
    if (x_has_head) {
        x_reader->base = begin();
        show_head();
    }
}

std::span<char> request_parser::space() {
    if (x_start == x_used) x_start = x_used = 0;
    if (x_capacity - x_used < read_bytes_min) make_room(read_bytes_min);
    return {x_buffer.get() + x_used, x_capacity - x_used};
}

request_parser::progress request_parser::advance() {
    x_reader->base = begin();
    switch (x_stage) {
        case stage::head:
            return advance_head();
        case stage::sized_body:
            return advance_sized_body();
        case stage::chunked_body:
            return advance_chunked_body();
        case stage::complete:
            return progress::complete;
        case stage::failed:
            break;
    }
    return progress::failed;
}

request_parser::progress request_parser::advance_head() {
    // RFC 9112 §2.2: one empty line before a request is accepted.
    if (x_parsed == 0 && waiting() > 0 && *begin() == '\r' && !x_skipped_line) {
        if (waiting() == 1) return progress::need_more;
        if (begin()[1] == '\n') {
            x_start += 2;
            x_skipped_line = true;
            x_reader->base = begin();
        }
    }
    if (waiting() == 0) return progress::need_more;
    beast_error failed;
    x_parsed += x_reader->parser->put(boost::asio::const_buffer(begin() + x_parsed, waiting()), failed);
    const std::size_t head_bytes = x_reader->parser->is_header_done() ? x_parsed : x_used - x_start;
    if (failed == http::error::header_limit || head_bytes > limits::request_header_bytes_max)
        return fail(431, "the header is larger than " + std::to_string(limits::request_header_bytes_max) +
                             " bytes or has more than " + std::to_string(limits::request_header_fields_max) +
                             " fields");
    if (failed && failed != http::error::need_more)
        return fail(400, "the request cannot be understood: " + what_is_right(failed));
    if (!x_reader->parser->is_header_done()) {
        if (!has_bare_line_end({begin(), head_bytes})) return progress::need_more;
        return fail(400, "the lines of the header must end with CR LF");
    }
    x_head_bytes = x_parsed;
    x_has_head = true;
    show_head();
    return check_head();
}

// Checks 1 to 5 of http.md §2, and determines the message's framing.
request_parser::progress request_parser::check_head() {
    const header_reader& seen = *x_reader;
    const bool is_1_1 = !is_http_1_0();
    if (has_folded_line({begin(), x_head_bytes})) return fail(400, "a header line must not be folded");
    if (seen.transfer_encoding.count > 0) {
        if (seen.transfer_encoding.count > 1 || !is_1_1 || seen.content_length.count > 0 ||
            !runtime::equals_ignoring_case(seen.value(seen.transfer_encoding), "chunked"))
            return fail(400,
                        "Transfer-Encoding must be one field with the value chunked, in HTTP/1.1, without "
                        "Content-Length");
    }
    std::optional<std::uint64_t> body_bytes = 0;
    if (seen.content_length.count > 0) body_bytes = runtime::parse_decimal(seen.value(seen.content_length));
    if (seen.content_length.count > 1 || !body_bytes)
        return fail(400, "Content-Length must be one field with one decimal number");
    if (seen.host.count > 1 || (seen.host.count == 0 && is_1_1) ||
        (seen.host.count == 1 && !is_host(seen.value(seen.host))))
        return fail(400, "there must be one Host field: a name or address, and perhaps a port");
    const std::string_view target = seen.target.in(begin());
    if (target.size() > limits::request_target_bytes_max)
        return fail(
            414, "the target is longer than " + std::to_string(limits::request_target_bytes_max) + " bytes");
    const auto shown = path_and_query(target, seen.method == http_method::options);
    if (!shown)
        return fail(400,
                    "the target must be a path that starts with /, or a whole http or https URL, in visible "
                    "ASCII without #");
    if (shown->size() < target.size()) {
        x_reader->target = seen.where(*shown);
        show_head();
    }
    if (!seen.method) return fail(501, "the method must be GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS");
    if (seen.expect.count > 0 && is_1_1 &&
        (seen.expect.count > 1 || !runtime::equals_ignoring_case(seen.value(seen.expect), "100-continue")))
        return fail(417, "the only expectation that can be met is 100-continue");
    if (seen.parser->chunked()) {
        x_stage = stage::chunked_body;
        x_reader->body_at = x_head_bytes;
        x_reader->parser->eager(true);
        return progress::head;
    }
    if (*body_bytes == 0) {
        x_stage = stage::complete;
        return progress::complete;
    }
    x_stage = stage::sized_body;
    x_sized_body_bytes = *body_bytes;
    return progress::head;
}

void request_parser::show_head() {
    const char* const base = begin();
    const std::string_view target = x_reader->target.in(base);
    const std::size_t question = target.find('?');
    x_request.method = x_reader->method.value_or(http_method::get);
    x_request.target = target;
    x_request.path = target.substr(0, question);
    if (x_request.path.empty()) x_request.path = x_reader->method == http_method::options ? "*" : "/";
    x_request.query = question == target.npos ? std::string_view() : target.substr(question + 1);
    for (std::size_t i = 0; i < x_reader->field_count; ++i) {
        const header_reader::field& field = x_reader->fields[i];
        x_fields[i] = {field.name.in(base), field.value.in(base)};
    }
    x_request.headers = {x_fields.data(), x_reader->field_count};
    x_request.body = {};
}

bool request_parser::allow_body(std::size_t bytes_max) {
    x_reader->body_bytes_max = bytes_max;
    if (x_stage == stage::sized_body && x_sized_body_bytes > bytes_max) fail_too_large();
    return x_stage != stage::failed;
}

// What is left after a read is the size of a chunk or a trailer. It may grow with the body if that is
// buffered anyway, but not if nothing else is.
bool request_parser::is_framing_unbounded() const noexcept {
    return x_is_streamed && waiting() > limits::framing_bytes_max;
}

void request_parser::stream_body() {
    HERALD_ASSERT(x_stage == stage::sized_body || x_stage == stage::chunked_body);
    x_is_streamed = true;
    const std::size_t held = x_used - x_start;
    make_room(std::max(streamed_bytes_max, held + read_bytes_min) - held);
}

void request_parser::drop_piece() noexcept {
    char* const piece = begin() + x_head_bytes;
    std::memmove(piece, piece + x_body_bytes, x_used - x_start - x_head_bytes - x_body_bytes);
    x_used -= x_body_bytes;
    if (x_parsed > x_head_bytes) x_parsed -= x_body_bytes;  // if they were read as part of a body
    x_dropped_bytes += x_body_bytes;
    x_reader->dropped_bytes = x_dropped_bytes;
    x_body_bytes = 0;
}

request_parser::progress request_parser::fail_too_large() {
    return fail(413, "the body is larger than " + std::to_string(x_reader->body_bytes_max) + " bytes");
}

request_parser::progress request_parser::advance_sized_body() {
    const std::size_t missing = x_sized_body_bytes - x_dropped_bytes;
    x_body_bytes = std::min(x_used - x_start - x_head_bytes, missing);
    if (x_body_bytes < missing) return progress::need_more;
    x_parsed = x_head_bytes + x_body_bytes;
    return finish();
}

request_parser::progress request_parser::advance_chunked_body() {
    if (x_reader->chunk_bytes_left == 0 && ends_in_bare_line_feed({begin() + x_parsed, waiting()}))
        return fail_chunks(static_cast<int>(http::error::bad_line_ending));
    if (waiting() < chunked_bytes_min) return progress::need_more;
    beast_error failed;
    x_reader->unread = begin() + x_parsed;
    const std::size_t took =
        x_reader->parser->put(boost::asio::const_buffer(x_reader->unread, waiting()), failed);
    x_parsed += took;
    x_reader->raw_bytes += took;
    x_body_bytes = x_reader->body_bytes - x_dropped_bytes;
    const bool is_done = x_reader->parser->is_done();
    // Judged by whole lines, so that it does not matter in which pieces they arrive.
    if (failed == http::error::header_limit ||
        (!failed && is_done && x_reader->has_too_much_framing(x_reader->raw_bytes)) ||
        (failed == http::error::need_more &&
         (x_reader->has_too_much_framing(x_reader->raw_bytes + waiting()) || is_framing_unbounded())))
        return fail(413, "too many bytes of chunk sizes, extensions and trailers");
    if (failed == http::error::body_limit) return fail_too_large();
    if (failed && failed != http::error::need_more) return fail_chunks(failed.value());
    // Outside of a chunk all that is left is framing.
    if (failed == http::error::need_more && x_reader->chunk_bytes_left == 0 &&
        has_bare_line_end({begin() + x_parsed, waiting()}))
        return fail_chunks(static_cast<int>(http::error::bad_line_ending));
    if (is_done) return finish();
    // Closes the gap that the framing left, so that the buffer grows only with the body.
    const std::size_t body_end = x_head_bytes + x_body_bytes;
    const std::size_t rest = waiting();
    std::memmove(begin() + body_end, begin() + x_parsed, rest);
    x_parsed = body_end;
    x_used = x_start + body_end + rest;
    return progress::need_more;
}

request_parser::progress request_parser::fail_chunks(int beast_code) {
    const beast_error failed = static_cast<http::error>(beast_code);
    return fail(400, "the chunked body cannot be understood: " + what_is_right(failed));
}

request_parser::progress request_parser::finish() {
    x_stage = stage::complete;
    show_head();
    if (!x_is_streamed) x_request.body = piece();
    return progress::complete;
}

request_parser::progress request_parser::fail(std::uint16_t status, std::string message) {
    x_stage = stage::failed;
    error_code code = error_code::invalid_argument;
    if (status == 413 || status == 414 || status == 431) code = error_code::resource_exhausted;
    if (status == 501) code = error_code::unimplemented;
    x_failure = {code, std::move(message), status};
    return progress::failed;
}

void request_parser::next() {
    HERALD_ASSERT(x_stage == stage::complete);
    x_start += x_parsed;
    x_parsed = x_head_bytes = x_body_bytes = x_dropped_bytes = 0;
    x_is_streamed = false;
    x_stage = stage::head;
    x_has_head = x_skipped_line = false;
    x_request = {};
    x_reader->restart();
    if (x_capacity > buffer_bytes_kept) shrink();
}

void request_parser::drop_body() {
    x_stage = stage::failed;
    x_used = x_start + (x_has_head ? x_head_bytes : 0);
    x_parsed = x_used - x_start;
    x_body_bytes = 0;
    shrink();
}

void request_parser::release() noexcept {
    x_buffer.reset();
    x_capacity = x_start = x_used = x_parsed = 0;
}

// To what is held, unless that fills most of the buffer.
void request_parser::shrink() {
    if (x_capacity <= buffer_bytes_first || x_used - x_start > x_capacity / 2) return;
    x_capacity = 0;
    make_room(read_bytes_min);
}

bool request_parser::keep_alive() const noexcept { return x_has_head && x_reader->parser->keep_alive(); }

bool request_parser::is_http_1_0() const noexcept { return x_has_head && x_reader->version < 11; }

bool request_parser::expects_continue() const noexcept {
    return x_has_head && x_reader->expect.count > 0 && !is_http_1_0() && waiting() == 0;
}

std::optional<std::string_view> request::header(std::string_view name) const noexcept {
    for (const header_view& field : headers)
        if (runtime::equals_ignoring_case(field.name, name)) return field.value;
    return std::nullopt;
}

}  // namespace herald::runtime::http::server
