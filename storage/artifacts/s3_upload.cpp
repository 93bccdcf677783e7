#include "storage/artifacts/s3_upload.hpp"

#include <utility>

#include "storage/artifacts/limits.hpp"
#include "storage/artifacts/s3_answers.hpp"
#include "storage/artifacts/uploads.hpp"

namespace herald::storage::artifacts {
namespace {

using runtime::run_blocking;
using runtime::http::body_stream;
using runtime::http::http_method;

}  // namespace

s3_upload::s3_upload(const parts& with, std::string key)
    : x_with(with), x_key(std::move(key)), x_begun_ms(with.time.steady_ms()) {}

task<std::string> s3_upload::put_text(std::string key, std::shared_ptr<const std::string> body,
                                      std::string hash) {
    s3_request request;
    request.method = http_method::put;
    request.key = std::move(key);
    request.body = std::move(body);
    request.body_hash = std::move(hash);
    const auto answer = co_await x_with.calls.send(std::move(request));
    if (!answer) co_return answer.error();
    if (!answer->is_good()) co_return refused("store", *answer);
    co_return answer->header("etag");
}

task<> s3_upload::begin_parts() {
    s3_request request;
    request.method = http_method::post;
    request.key = x_key;
    request.query = {{"uploads", ""}};
    const auto answer = co_await x_with.calls.send(std::move(request));
    if (!answer) co_return answer.error();
    if (!answer->is_good()) co_return refused("begin an upload in parts", *answer);
    const auto id = xml_text(answer->body, "UploadId");
    if (!id || id->empty()) co_return refused("begin an upload in parts", *answer);
    x_upload_id = *id;
    co_return result<void>();
}

task<> s3_upload::send_part() {
    if (x_with.time.steady_ms() - x_begun_ms > limits::s3_upload_ms_max)
        co_return error{error_code::deadline_exceeded, "the upload has taken over a day", 408};
    if (x_upload_id.empty()) {
        const auto begun = co_await begin_parts();
        if (!begun) co_return begun;
    }
    const auto body = std::make_shared<const std::string>(std::exchange(x_buffer, std::string()));
    const auto digest = [&]() -> result<std::string> {
        x_hash.add(*body);
        return runtime::to_hex(runtime::as_bytes(runtime::sha256(*body)));
    };
    auto hash = co_await run_blocking(x_with.pool, digest);
    if (!hash) co_return hash.error();
    x_bytes += body->size();
    s3_request request;
    request.method = http_method::put;
    request.key = x_key;
    request.query = {{"partNumber", std::to_string(x_etags.size() + 1)}, {"uploadId", x_upload_id}};
    request.body = body;
    request.body_hash = *std::move(hash);
    const auto answer = co_await x_with.calls.send(std::move(request));
    if (!answer) co_return answer.error();
    if (!answer->is_good()) co_return refused("store a part", *answer);
    x_etags.push_back(answer->header("etag"));
    co_return result<void>();
}

/// If the answer to an earlier attempt was lost, the upload is done, and the server no longer knows it. So
/// the object itself is looked at.
task<> s3_upload::end_parts() {
    x_digest = runtime::as_bytes(x_hash.finish());
    x_is_sent = true;
    s3_request request;
    request.method = http_method::post;
    request.key = x_key;
    request.query = {{"uploadId", x_upload_id}};
    request.body = std::make_shared<const std::string>(completion_of(x_etags));
    request.body_hash = runtime::to_hex(runtime::as_bytes(runtime::sha256(*request.body)));
    request.deadline_ms = limits::s3_completing_ms_max;
    const auto answer = co_await x_with.calls.send(std::move(request));
    if (!answer) co_return answer.error();
    if (!answer->is_good() && answer->status != 404)
        co_return refused("put the parts of an upload together", *answer);
    s3_request look;
    look.method = http_method::head;
    look.key = x_key;
    const auto there = co_await x_with.calls.send(std::move(look));
    if (!there) co_return there.error();
    const std::string length = there->header("content-length");
    if (!there->is_good() || length != std::to_string(x_bytes))
        co_return refused("put the parts of an upload together", answer->is_good() ? *there : *answer);
    x_etag = there->header("etag");
    co_return result<void>();
}

task<> s3_upload::send_whole() {
    const auto body = std::make_shared<const std::string>(std::exchange(x_buffer, std::string()));
    const auto hash = [&]() -> result<runtime::sha256_digest> { return runtime::sha256(*body); };
    const auto digest = co_await run_blocking(x_with.pool, hash);
    if (!digest) co_return digest.error();
    x_digest = runtime::as_bytes(*digest);
    x_bytes = body->size();
    x_is_sent = true;
    std::string in_hex = runtime::to_hex(x_digest);
    auto sent = co_await put_text(x_key, body, std::move(in_hex));
    if (!sent) co_return sent.error();
    x_etag = *std::move(sent);
    co_return result<void>();
}

/// The bytes are durable: from here on they are an object.
task<> s3_upload::mark() {
    x_mark = x_key + "-" + runtime::to_hex(x_digest);
    const auto nothing = std::make_shared<const std::string>();
    std::string hash = runtime::to_hex(runtime::as_bytes(runtime::sha256("")));
    const auto marked = co_await put_text(x_mark, nothing, std::move(hash));
    if (!marked) co_return marked.error();
    co_return result<void>();
}

task<> s3_upload::take(body_stream& body, std::uint64_t bytes_max) {
    std::uint64_t total = 0;
    while (true) {
        const auto piece = co_await body.next();
        if (!piece) co_return piece.error();
        if (piece->empty()) break;
        total += piece->size();
        if (total > bytes_max) co_return too_large(bytes_max);
        if (x_buffer.empty() && !x_etags.empty())
            x_buffer.reserve(limits::s3_part_bytes + limits::http_piece_bytes_max);
        x_buffer += *piece;
        if (x_buffer.size() < limits::s3_part_bytes) continue;
        const auto sent = co_await send_part();
        if (!sent) co_return sent;
    }
    if (x_upload_id.empty()) {
        const auto sent = co_await send_whole();
        if (!sent) co_return sent;
        co_return co_await mark();
    }
    if (!x_buffer.empty()) {
        const auto sent = co_await send_part();
        if (!sent) co_return sent;
    }
    const auto ended = co_await end_parts();
    if (!ended) co_return ended;
    co_return co_await mark();
}

/// As well as it goes: what stays is removed by list() later.
boost::asio::awaitable<void> s3_upload::discard() {
    if (!x_upload_id.empty()) {
        s3_request request;
        request.method = http_method::delete_;
        request.key = x_key;
        request.query = {{"uploadId", x_upload_id}};
        (void)co_await x_with.calls.send(std::move(request));
    }
    if (x_is_sent) (void)co_await x_with.calls.remove(x_key);
    if (!x_mark.empty()) (void)co_await x_with.calls.remove(x_mark);
}

}  // namespace herald::storage::artifacts
