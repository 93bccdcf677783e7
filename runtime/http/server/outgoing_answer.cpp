#include "runtime/http/server/outgoing_answer.hpp"

#include <algorithm>

#include "runtime/http/body.hpp"

namespace herald::runtime::http::server {

namespace asio = boost::asio;

std::string_view outgoing_answer::body_to_send() const noexcept {
    if (is_bodiless(x_answer.status) || x_form.is_to_head) return {};
    return x_answer.body;
}

bool outgoing_answer::is_streaming() const noexcept {
    return x_answer.stream && !is_bodiless(x_answer.status) && !x_form.is_to_head;
}

std::size_t outgoing_answer::bytes_held_max() const noexcept {
    return is_streaming() ? x_answer.stream->bytes_held_max() : body_to_send().size();
}

bool outgoing_answer::ends_with_connection() const noexcept {
    return is_streaming() && !x_answer.stream_bytes && x_form.is_http_1_0;
}

std::uint64_t outgoing_answer::body_bytes() const noexcept {
    return is_streaming() ? x_streamed_bytes : x_answer.body.size();
}

void outgoing_answer::write_continue() { x_unsent = {asio::buffer("HTTP/1.1 100 Continue\r\n\r\n", 25), {}}; }

void outgoing_answer::write_head(response_writer& writer, const answer_facts& facts) {
    x_streamed_bytes = 0;
    writer.write_head(x_text, x_answer, facts);
    std::string_view body = body_to_send();
    if (body.size() <= body_bytes_copied_max) {
        x_text += body;
        body = {};
    }
    x_unsent = {asio::buffer(x_text), asio::buffer(body)};
}

bool outgoing_answer::write_piece(std::string_view piece) {
    const bool is_first = x_streamed_bytes == 0;
    x_streamed_bytes += piece.size();
    x_text.clear();
    if (const auto& expected = x_answer.stream_bytes) {
        if (piece.empty() ? x_streamed_bytes != *expected : x_streamed_bytes > *expected) return false;
    } else if (!x_form.is_http_1_0) {
        write_chunk_line(x_text, piece.size(), is_first ? chunk_place::first : chunk_place::later);
    }
    x_unsent = {asio::buffer(x_text), asio::buffer(piece)};
    return true;
}

std::uint64_t outgoing_answer::bytes_to_send_past() const noexcept {
    if (!x_answer.stream_bytes || !x_answer.stream->can_send_to_socket()) return 0;
    return *x_answer.stream_bytes - std::min(*x_answer.stream_bytes, x_streamed_bytes);
}

void outgoing_answer::sent(std::size_t bytes) noexcept {
    const std::size_t of_text = std::min(bytes, x_unsent[0].size());
    x_unsent[0] += of_text;
    x_unsent[1] += bytes - of_text;
}

void outgoing_answer::clear() {
    x_answer.status = 200;
    x_answer.content_type = "application/json";
    x_answer.headers.clear();
    x_answer.head_lines.clear();
    x_answer.id_also_as = {};
    x_answer.stream.reset();
    x_answer.stream_bytes.reset();
    if (x_answer.body.capacity() > body_bytes_copied_max) x_answer.body = {};
    x_answer.body.clear();
}

}  // namespace herald::runtime::http::server
