// One upload to S3: one PUT, or parts of limits::s3_part_bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/clock.hpp"
#include "runtime/crypto.hpp"
#include "runtime/event_loop.hpp"
#include "runtime/http/body.hpp"
#include "storage/artifacts/s3_calls.hpp"
#include "storage/artifacts/store.hpp"

namespace herald::storage::artifacts {

/// Holds one part in memory. Belongs to one coroutine.
class s3_upload {
  public:
    /// All of them must outlive it.
    struct parts {
        s3_calls& calls;
        runtime::blocking_pool& pool;  // computes digests
        const runtime::clock& time;
    };
    s3_upload(const parts& with, std::string key);

    /// Stores the body under the key, and then the key that says its digest. Errors: as artifact_store::put;
    /// deadline_exceeded after limits::s3_upload_ms_max.
    task<> take(runtime::http::body_stream&, std::uint64_t bytes_max);
    /// Removes what a failed upload has left, as well as it goes: what stays is found by
    /// artifact_store::list.
    boost::asio::awaitable<void> discard();

    const std::string& digest() const noexcept { return x_digest; }
    std::uint64_t bytes() const noexcept { return x_bytes; }
    /// Empty when the server sent none.
    const std::string& etag() const noexcept { return x_etag; }

  private:
    task<> send_part();
    task<> begin_parts();
    task<> end_parts();
    task<> send_whole();
    task<> mark();
    task<std::string> put_text(std::string key, std::shared_ptr<const std::string> body, std::string hash);

    const parts x_with;
    const std::string x_key;
    std::string x_mark;  // the key of the digest, once that is known
    std::string x_buffer;
    std::string x_upload_id;  // of one in parts
    std::vector<std::string> x_etags;
    std::string x_etag;  // of the whole
    std::uint64_t x_bytes = 0;
    runtime::sha256_stream x_hash;
    std::string x_digest;
    const std::int64_t x_begun_ms;  // steady clock
    bool x_is_sent = false;         // something may be under the key
};

}  // namespace herald::storage::artifacts
