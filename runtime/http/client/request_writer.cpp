#include "runtime/http/client/request_writer.hpp"

#include <array>
#include <cstdio>

namespace herald::runtime::http::client {
namespace {

void append_header(std::string& out, std::string_view name, std::string_view value) {
    out.append(name).append(": ");
    for (const char c : value) {  // a line break would begin another header
        const auto byte = static_cast<unsigned char>(c);
        out += (byte < 0x20 && c != '\t') || byte == 0x7f ? ' ' : c;
    }
    out.append("\r\n");
}

}  // namespace

std::string request_text(const request& asked, const location& to) {
    std::string text = std::string(name_of(asked.method)) + " " + to.target + " HTTP/1.1\r\n";
    append_header(text, "host", to.authority());
    for (const auto& [name, value] : asked.headers) append_header(text, name, value);
    if (asked.body_pieces && !asked.body_pieces_bytes) {
        append_header(text, "transfer-encoding", "chunked");
    } else if (asked.body_pieces) {
        append_header(text, "content-length", std::to_string(*asked.body_pieces_bytes));
    } else if (asked.body) {
        append_header(text, "content-length", std::to_string(asked.body->size()));
    } else if (asked.method == http_method::post || asked.method == http_method::put ||
               asked.method == http_method::patch) {
        append_header(text, "content-length", "0");  // RFC 9110 §8.6: a body is expected of these
    }
    if (asked.body_pieces && asked.asks_before_body) append_header(text, "expect", "100-continue");
    text.append("\r\n");
    if (asked.body && !asked.body_pieces) text.append(*asked.body);
    return text;
}

std::string chunk_text(std::string_view piece) {
    std::array<char, 24> size{};
    std::snprintf(size.data(), size.size(), "%zx\r\n", piece.size());
    std::string text(size.data());
    text.append(piece).append("\r\n");  // an empty one is the last chunk
    return text;
}

}  // namespace herald::runtime::http::client
