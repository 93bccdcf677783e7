#include "runtime/http/server/event_stream.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/http/server/awaiting.hpp"

namespace herald::runtime::http::server {
namespace {

namespace asio = boost::asio;

void append_field(std::string& out, std::string_view name, std::string_view value) {
    out.append(name).append(": ");
    const std::size_t at = out.size();
    out += value;
    std::replace_if(
        out.begin() + static_cast<std::ptrdiff_t>(at), out.end(),
        [](char c) { return c == '\n' || c == '\r' || c == '\0'; }, ' ');
    out += '\n';
}

// CR LF, LF and CR all end a line.
void append_data(std::string& out, std::string_view data) {
    while (true) {
        const std::size_t end = std::min(data.find_first_of("\r\n"), data.size());
        append_field(out, "data", data.substr(0, end));
        if (end == data.size()) return;
        data.remove_prefix(end + (data.substr(end).starts_with("\r\n") ? 2 : 1));
    }
}

}  // namespace

event_stream::event_stream(runtime::event_loop& loop, const event_stream_options& options)
    : x_options(options), x_bell(loop.context()) {}

bool event_stream::send(const server_event& event) {
    if (x_has_ended) return false;
    const std::size_t before = x_waiting.size();
    if (!event.id.empty()) append_field(x_waiting, "id", event.id);
    if (!event.event.empty()) append_field(x_waiting, "event", event.event);
    append_data(x_waiting, event.data);
    x_waiting += '\n';
    if (x_waiting.size() > x_options.waiting_bytes_max) {
        x_waiting.resize(before);
        end();
        return false;
    }
    x_bell.cancel();
    return true;
}

void event_stream::end() {
    x_has_ended = true;
    x_bell.cancel();
}

asio::awaitable<result<std::string_view>> event_stream::next() {
    if (x_waiting.empty() && !x_has_ended) {
        x_bell.expires_after(std::chrono::milliseconds(x_options.heartbeat_ms));
        co_await x_bell.async_wait(outcome);
    }
    x_piece = std::exchange(x_waiting, std::string());
    if (x_piece.empty() && !x_has_ended) x_piece = ":\n\n";  // a comment
    co_return std::string_view(x_piece);
}

http_response answer_of(std::shared_ptr<event_stream> events) {
    http_response out;
    out.content_type = "text/event-stream";
    out.headers = {{"cache-control", "no-store"}};
    out.stream = std::move(events);
    return out;
}

}  // namespace herald::runtime::http::server
