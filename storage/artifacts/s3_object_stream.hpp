// The bytes of an object in S3, read piece by piece and compared with their digest.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/crypto.hpp"
#include "runtime/http/body.hpp"
#include "runtime/http/client/client.hpp"
#include "runtime/mutex.hpp"
#include "storage/artifacts/s3_calls.hpp"
#include "storage/artifacts/store.hpp"

namespace herald::storage::artifacts {

/// Which objects this process has compared with their digests, and the ETags that they had. Thread-safe; at
/// most limits::verified_objects_max.
class s3_verified_objects {
  public:
    /// Empty when it is not known.
    std::string etag_of(const std::string& object) const;
    void add(const std::string& object, const std::string& etag);
    void forget(const std::string& object);

  private:
    mutable runtime::mutex x_mutex;
    std::map<std::string, std::string> x_etags GUARDED_BY(x_mutex);
};

/// A range of an object. The whole of one that is not known to be good is compared while it is read, and its
/// last piece comes only when all of it matches. What is cut off on the way goes on where it was, if the
/// object is still the same, limits::s3_attempts_max times within limits::s3_part_bytes. `calls` and
/// `verified` must outlive it.
class s3_object_stream final : public runtime::http::body_stream {
  public:
    s3_object_stream(s3_calls& calls, std::string key, stored_object object, byte_range range,
                     s3_verified_objects& verified);

    /// Before the first piece. Errors: not_found; internal when it has another length or is another one than
    /// was compared; unavailable.
    task<> open();
    /// Errors: as open(); internal when the bytes do not match the digest.
    boost::asio::awaitable<result<std::string_view>> next() override;

  private:
    result<void> check(const s3_answer&, bool is_part);
    task<> read_until(std::size_t bytes);
    task<> go_on(error why);
    result<void> compare();
    error spoiled(std::string_view how) const;

    s3_calls& x_calls;
    const std::string x_key;
    const stored_object x_object;
    s3_verified_objects& x_verified;
    std::uint64_t x_at;  // of the object: what was handed out
    const std::uint64_t x_end;
    std::unique_ptr<runtime::sha256_stream> x_hash;  // null when the bytes need not be compared
    std::string x_etag;                              // empty until it is known
    std::unique_ptr<runtime::http::client::exchange> x_body;
    std::string x_piece;
    int x_cuts = 0;
    std::uint64_t x_cuts_forgotten_at = 0;
};

}  // namespace herald::storage::artifacts
