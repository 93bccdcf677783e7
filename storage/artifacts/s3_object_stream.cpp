#include "storage/artifacts/s3_object_stream.hpp"

#include <algorithm>
#include <utility>

#include "storage/artifacts/limits.hpp"

namespace herald::storage::artifacts {

using runtime::http::client::answer_body;

std::string s3_verified_objects::etag_of(const std::string& object) const {
    const runtime::lock_guard lock(x_mutex);
    const auto found = x_etags.find(object);
    return found == x_etags.end() ? "" : found->second;
}

void s3_verified_objects::add(const std::string& object, const std::string& etag) {
    const runtime::lock_guard lock(x_mutex);
    if (x_etags.size() >= limits::verified_objects_max) x_etags.clear();
    x_etags[object] = etag;
}

void s3_verified_objects::forget(const std::string& object) {
    const runtime::lock_guard lock(x_mutex);
    x_etags.erase(object);
}

s3_object_stream::s3_object_stream(s3_calls& calls, std::string key, stored_object object, byte_range range,
                                   s3_verified_objects& verified)
    : x_calls(calls),
      x_key(std::move(key)),
      x_object(std::move(object)),
      x_verified(verified),
      x_at(range.offset),
      x_end(range.offset + range.bytes),
      x_etag(verified.etag_of(x_object.object)) {
    const bool is_whole = x_at == 0 && x_end == x_object.bytes;
    if (is_whole && x_etag.empty()) x_hash = std::make_unique<runtime::sha256_stream>();
}

error s3_object_stream::spoiled(std::string_view how) const {
    return lost_or_damaged(x_object.object, "the object " + std::string(how));
}

/// Whether the answer has the requested bytes.
result<void> s3_object_stream::check(const s3_answer& answer, bool is_part) {
    if (answer.status == 404) return lost_or_damaged(x_object.object, "they are not there");
    const std::string etag = answer.header("etag");
    if (answer.status == 412 || (answer.is_good() && !x_etag.empty() && etag != x_etag)) {
        x_verified.forget(x_object.object);
        return spoiled("is no longer the one that was compared with its digest; try again");
    }
    if (answer.status == 416)
        return lost_or_damaged(x_object.object, "they end before those that were stored do");
    if (!answer.is_good()) return refused("read an object", answer);
    if (is_part != (answer.status == 206))
        return runtime::unavailable(
            {"the store of artifacts cannot be used: it answers a range with ", answer.status});
    const std::string size = "/" + std::to_string(x_object.bytes);
    const std::uint64_t asked = x_end - x_at - x_piece.size();
    if ((is_part && !answer.header("content-range").ends_with(size)) ||
        answer.header("content-length") != std::to_string(asked))
        return spoiled("has another length than what was stored, " + std::to_string(x_object.bytes) +
                       " bytes");
    x_etag = etag;
    return {};
}

task<> s3_object_stream::open() {
    if (x_at == x_end && x_object.bytes > 0) co_return result<void>();
    const std::uint64_t from = x_at + x_piece.size();
    const bool is_part = from > 0 || x_end < x_object.bytes;
    s3_request request;
    request.key = x_key;
    request.answer = answer_body::streamed;
    if (is_part)
        request.headers.push_back(
            {"range", "bytes=" + std::to_string(from) + "-" + std::to_string(x_end - 1)});
    if (!x_etag.empty()) request.headers.push_back({"if-match", x_etag});
    auto answer = co_await x_calls.send(std::move(request));
    if (!answer) co_return answer.error();
    const auto good = check(*answer, is_part);
    if (!good) co_return good.error();
    x_body = std::move(answer->rest);
    co_return result<void>();
}

/// After a cut: the rest is asked for.
task<> s3_object_stream::go_on(error why) {
    x_body.reset();
    if (x_at >= x_cuts_forgotten_at + limits::s3_part_bytes) {
        x_cuts = 0;
        x_cuts_forgotten_at = x_at;
    }
    if (++x_cuts >= limits::s3_attempts_max) co_return why;
    co_await s3_calls::pause(limits::s3_pause_ms);
    co_return co_await open();
}

/// Until the piece has that many bytes.
task<> s3_object_stream::read_until(std::size_t bytes) {
    while (x_piece.size() < bytes) {
        const std::size_t before = x_piece.size();
        auto more = co_await s3_calls::read_piece(*x_body, x_piece);
        if (more && x_piece.size() == before) more = runtime::unavailable("the store cut an object off");
        if (more) continue;
        const auto opened = co_await go_on(more.error());
        if (!opened) co_return opened;
    }
    co_return result<void>();
}

result<void> s3_object_stream::compare() {
    if (!x_hash) return {};
    x_hash->add(x_piece);
    if (x_at != x_end) return {};
    if (runtime::as_bytes(x_hash->finish()) != x_object.digest)
        return spoiled("no longer holds what was stored");
    if (!x_etag.empty()) x_verified.add(x_object.object, x_etag);
    return {};
}

boost::asio::awaitable<result<std::string_view>> s3_object_stream::next() {
    x_piece.clear();
    if (x_at == x_end) co_return std::string_view();
    const std::size_t wanted = std::min<std::uint64_t>(limits::http_piece_bytes_max, x_end - x_at);
    const auto read = co_await read_until(wanted);
    if (!read) co_return read.error();
    x_at += x_piece.size();
    if (x_at > x_end) co_return spoiled("is longer than what was stored");
    const auto good = compare();
    if (!good) co_return good.error();
    if (x_at == x_end) x_body.reset();
    co_return std::string_view(x_piece);
}

}  // namespace herald::storage::artifacts
