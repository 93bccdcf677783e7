#include "storage/artifacts/s3_calls.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>

#include "runtime/completion.hpp"
#include "runtime/crypto.hpp"
#include "runtime/http/client/awaiting.hpp"
#include "runtime/text.hpp"
#include "storage/artifacts/s3_answers.hpp"

namespace herald::storage::artifacts {
namespace {

namespace asio = boost::asio;
namespace client = runtime::http::client;

constexpr auto outcome = asio::as_tuple(asio::use_awaitable);

/// A body from memory, handed out in pieces, so that it is not copied as a whole.
class text_source final : public client::body_source {
  public:
    explicit text_source(std::shared_ptr<const std::string> text) : x_text(std::move(text)) {}
    void next(client::piece_callback call_back) override {
        const std::string_view piece = std::string_view(*x_text).substr(x_at, limits::http_piece_bytes_max);
        x_at += piece.size();
        call_back(piece);
    }

  private:
    const std::shared_ptr<const std::string> x_text;
    std::size_t x_at = 0;
};

/// The address was named by the operator, and may be any.
client::client_options options_for(client::client_options options) {
    const client::address_block all_v4{client::ip_address{client::ip_address::family::v4, {}}, 0};
    const client::address_block all_v6{client::ip_address{client::ip_address::family::v6, {}}, 0};
    options.policy = client::address_policy({all_v4, all_v6});
    options.http = client::plain_http::allowed;
    options.connections_max = limits::s3_connections_max;
    options.idle_connections_max = limits::s3_idle_connections_max;
    return options;
}

/// Whether the same request may be answered otherwise a little later. An answer that comes after a long
/// wait begins with 200 and may be a failure nevertheless.
bool is_passing(const s3_answer& answer) {
    switch (answer.status) {
        case 408:
        case 429:
        case 500:
        case 502:
        case 503:
        case 504:
            return true;
        default:
            break;
    }
    const auto failure = failure_in(answer.body);
    return failure &&
           (answer.is_good() || failure->code == "RequestTimeout" || failure->code == "OperationAborted");
}

}  // namespace

std::string s3_answer::header(std::string_view name) const {
    for (const auto& [each, value] : headers)
        if (runtime::equals_ignoring_case(each, name)) return value;
    return "";
}

std::string s3_answer::text() const {
    std::string out = std::to_string(status);
    const auto failure = failure_in(body);
    if (failure && !failure->code.empty()) out += " " + failure->code;
    if (failure && !failure->message.empty()) out += ": " + failure->message;
    return out;
}

error refused(std::string_view what, const s3_answer& answer) {
    return runtime::unavailable({"the store of artifacts refuses to ", what, ": ", answer.text()});
}

s3_calls::s3_calls(parts with, runtime::random_source& random, const runtime::clock& time)
    : x_with(std::move(with)), x_random(random), x_time(time) {}

client::client& s3_calls::client_on(asio::io_context& loop) {
    const runtime::lock_guard lock(x_mutex);
    auto& mine = x_clients[&loop];
    if (!mine) mine = client::make_client(loop, options_for(x_with.client));
    return *mine;
}

void s3_calls::forget(asio::io_context& loop) {
    const runtime::lock_guard lock(x_mutex);
    x_clients.erase(&loop);
}

client::request s3_calls::signed_now(const s3_request& asked) const {
    static const std::string hash_of_nothing = runtime::to_hex(runtime::as_bytes(runtime::sha256("")));
    signed_request to_sign;
    to_sign.method = runtime::http::name_of(asked.method);
    to_sign.path = x_with.address.path + path_of(asked.key);
    // Servers that have the bucket in the path know it without the slash behind it.
    if (asked.key.empty() && to_sign.path.size() > 1) to_sign.path.pop_back();
    to_sign.query = asked.query;
    to_sign.payload_hash = asked.body ? asked.body_hash : hash_of_nothing;
    to_sign.time_ms = x_time.wall_ms();
    to_sign.headers = asked.headers;
    to_sign.headers.push_back({"x-amz-content-sha256", to_sign.payload_hash});
    to_sign.headers.push_back({"x-amz-date", signing_time(to_sign.time_ms)});
    if (!x_with.credentials.session_token.empty())
        to_sign.headers.push_back({"x-amz-security-token", x_with.credentials.session_token});

    client::request out;
    out.headers = to_sign.headers;
    to_sign.headers.push_back({"host", x_with.address.host});
    out.headers.push_back({"authorization", authorization(to_sign, {x_with.region}, x_with.credentials)});
    out.method = asked.method;
    out.location = x_with.address.base + to_sign.path;
    if (!asked.query.empty()) out.location += "?" + query_text(asked.query);
    out.pool_key = "s3";
    if (asked.body && asked.body->size() > limits::s3_whole_bodies_bytes_max) {
        out.body_pieces = std::make_unique<text_source>(asked.body);
        out.body_pieces_bytes = asked.body->size();
    } else {
        out.body = asked.body;
    }
    out.answer = asked.answer;
    out.answer_body_bytes_max = limits::s3_answer_bytes_max;
    out.deadline_ms = asked.deadline_ms;
    out.piece_ms_max = limits::s3_piece_ms_max;
    return out;
}

task<> s3_calls::remove(std::string key) {
    s3_request request;
    request.method = runtime::http::http_method::delete_;
    request.key = std::move(key);
    const auto answer = co_await send(std::move(request));
    if (!answer) co_return answer.error();
    if (!answer->is_good() && answer->status != 404) co_return refused("erase an object", *answer);
    co_return result<void>();
}

task<> s3_calls::read_piece(client::exchange& from, std::string& into) {
    const auto came = co_await client::read_piece(from);
    if (!came) co_return came.error();
    into += *came;
    co_return result<void>();
}

boost::asio::awaitable<void> s3_calls::pause(std::int64_t ms) {
    const auto loop = co_await asio::this_coro::executor;
    asio::steady_timer timer(loop, std::chrono::milliseconds(ms));
    co_await timer.async_wait(outcome);
}

/// Errors: unavailable when there was no answer.
task<s3_answer> s3_calls::try_once(const s3_request& asked) {
    const auto loop = co_await asio::this_coro::executor;
    auto& context = static_cast<asio::io_context&>(loop.context());
    const auto arriving = std::make_shared<runtime::completion<client::answer>>();
    const auto take = [arriving](client::answer came) { arriving->give(std::move(came)); };
    auto exchange = client_on(context).start(signed_now(asked), take);
    const auto stopped = [&] {
        client::answer none;
        none.message = "stopped while an answer was awaited";
        arriving->give(std::move(none));
    };
    auto came = co_await arriving->wait(stopped);
    if (!came.status) co_return runtime::unavailable(came.message);
    s3_answer answer{*came.status, std::move(came.headers), std::move(came.body), nullptr};
    if (came.body_is_cut) co_return runtime::unavailable("its answer is too long");
    if (asked.answer == client::answer_body::streamed && answer.is_good())
        answer.rest = std::move(exchange);
    else if (asked.answer == client::answer_body::streamed)
        while (answer.body.size() < limits::s3_failure_bytes_max) {
            const std::size_t before = answer.body.size();
            const auto more = co_await read_piece(*exchange, answer.body);
            if (!more || answer.body.size() == before) break;
        }
    co_return answer;
}

task<s3_answer> s3_calls::send(s3_request asked) {
    std::string last;
    std::int64_t pause_ms = limits::s3_pause_ms;
    for (int failed = 0; failed < limits::s3_attempts_max; ++failed) {
        if (failed > 0) {
            const std::uint64_t some_ms = x_random.below(static_cast<std::uint64_t>(pause_ms));
            co_await pause(pause_ms / 2 + static_cast<std::int64_t>(some_ms));
            pause_ms *= 2;
        }
        auto answer = co_await try_once(asked);
        if (answer && !is_passing(*answer)) co_return answer;
        last = answer ? answer->text() : answer.error().message;
    }
    co_return runtime::unavailable(
        {"the store of artifacts at ", x_with.address.base, " does not answer as it should: ", last});
}

}  // namespace herald::storage::artifacts
