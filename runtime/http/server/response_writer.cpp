#include "runtime/http/server/response_writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "runtime/text.hpp"

namespace herald::runtime::http::server {
namespace {

constexpr std::string_view own_prefix = "svc-";  // prefix of Herald's headers before they are sent

struct status_line {
    std::uint16_t status;
    std::string_view text;
};

constexpr std::array status_lines{
    status_line{200, "HTTP/1.1 200 OK\r\n"},
    status_line{204, "HTTP/1.1 204 No Content\r\n"},
    status_line{206, "HTTP/1.1 206 Partial Content\r\n"},
    status_line{304, "HTTP/1.1 304 Not Modified\r\n"},
    status_line{400, "HTTP/1.1 400 Bad Request\r\n"},
    status_line{401, "HTTP/1.1 401 Unauthorized\r\n"},
    status_line{403, "HTTP/1.1 403 Forbidden\r\n"},
    status_line{404, "HTTP/1.1 404 Not Found\r\n"},
    status_line{405, "HTTP/1.1 405 Method Not Allowed\r\n"},
    status_line{408, "HTTP/1.1 408 Request Timeout\r\n"},
    status_line{409, "HTTP/1.1 409 Conflict\r\n"},
    status_line{412, "HTTP/1.1 412 Precondition Failed\r\n"},
    status_line{413, "HTTP/1.1 413 Content Too Large\r\n"},
    status_line{414, "HTTP/1.1 414 URI Too Long\r\n"},
    status_line{415, "HTTP/1.1 415 Unsupported Media Type\r\n"},
    status_line{416, "HTTP/1.1 416 Range Not Satisfiable\r\n"},
    status_line{417, "HTTP/1.1 417 Expectation Failed\r\n"},
    status_line{429, "HTTP/1.1 429 Too Many Requests\r\n"},
    status_line{431, "HTTP/1.1 431 Request Header Fields Too Large\r\n"},
    status_line{500, "HTTP/1.1 500 Internal Server Error\r\n"},
    status_line{501, "HTTP/1.1 501 Not Implemented\r\n"},
    status_line{502, "HTTP/1.1 502 Bad Gateway\r\n"},
    status_line{503, "HTTP/1.1 503 Service Unavailable\r\n"},
    status_line{504, "HTTP/1.1 504 Gateway Timeout\r\n"},
};

template <class Number>
void append_number(std::string& out, Number number) {
    std::array<char, 24> digits;
    out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

void append_status(std::string& out, std::uint16_t status) {
    for (const status_line& line : status_lines) {
        if (line.status != status) continue;
        out += line.text;
        return;
    }
    out += "HTTP/1.1 ";
    append_number(out, status);
    out += " \r\n";
}

void append_header(std::string& out, std::string_view name, std::string_view value) {
    out += name;
    out += ": ";
    const std::size_t at = out.size();
    out += value;
    for (std::size_t i = at; i < out.size(); ++i)
        if (static_cast<unsigned char>(out[i]) < 0x20 || out[i] == 0x7F) out[i] = ' ';
    out += "\r\n";
}

bool says_who_may_keep_it(const http_response& answer) {
    return std::ranges::any_of(answer.headers, [](const header& each) {
        return runtime::equals_ignoring_case(each.name, "cache-control");
    });
}

}  // namespace

void write_chunk_line(std::string& out, std::size_t bytes, chunk_place place) {
    std::array<char, 24> digits;
    out = place == chunk_place::first ? "" : "\r\n";
    out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), bytes, 16).ptr);
    out += bytes == 0 ? "\r\n\r\n" : "\r\n";
}

bool is_bodiless(std::uint16_t status) noexcept { return status < 200 || status == 204 || status == 304; }

response_writer::response_writer(const std::vector<std::string>& header_prefixes)
    : x_prefixes(header_prefixes) {
    for (const std::string& prefix : header_prefixes)
        x_request_id_names.push_back(runtime::to_lower(prefix) + "request-id");
}

void response_writer::write_head(std::string& out, const http_response& answer, const answer_facts& facts) {
    if (const std::time_t now = std::time(nullptr); now != x_date_of) {
        x_date_of = now;
        x_date_line = "date: " + runtime::http_date(std::int64_t{now} * 1000) + "\r\n";
    }
    out.clear();
    append_status(out, answer.status);
    out += x_date_line;
    if (!is_bodiless(answer.status)) {
        if (!answer.content_type.empty()) append_header(out, "content-type", answer.content_type);
        if (!answer.stream || answer.stream_bytes) {
            out += "content-length: ";
            append_number(out, answer.stream ? *answer.stream_bytes : answer.body.size());
            out += "\r\n";
        } else if (!facts.is_http_1_0) {
            out += "transfer-encoding: chunked\r\n";
        }
    }
    for (const std::string& name : x_request_id_names) append_header(out, name, facts.request_id);
    if (!facts.echo_name.empty()) append_header(out, facts.echo_name, facts.request_id);
    if (!answer.id_also_as.empty() && !runtime::equals_ignoring_case(answer.id_also_as, facts.echo_name) &&
        std::ranges::find(x_request_id_names, answer.id_also_as) == x_request_id_names.end())
        append_header(out, answer.id_also_as, facts.request_id);
    for (const header& each : answer.headers) {
        if (!each.name.starts_with(own_prefix)) {
            append_header(out, each.name, each.value);
            continue;
        }
        for (const std::string& prefix : x_prefixes) {
            out += prefix;
            append_header(out, std::string_view(each.name).substr(own_prefix.size()), each.value);
        }
    }
    out += answer.head_lines;
    out += "x-content-type-options: nosniff\r\n";
    if (!says_who_may_keep_it(answer)) out += "cache-control: no-store\r\n";
    if (facts.closes) {
        out += "connection: close\r\n";
    } else if (facts.is_http_1_0) {
        out += "connection: keep-alive\r\n";
    }
    out += "\r\n";
}

}  // namespace herald::runtime::http::server
