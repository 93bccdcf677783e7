// The store of the bytes of artifacts (design.md §5): objects, each named after the digest of its bytes.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/http/body.hpp"
#include "storage/artifacts/store_owner.hpp"

namespace herald::storage::artifacts {

template <class T = void>
using task = boost::asio::awaitable<result<T>>;

struct stored_object {
    std::string object;  // its name
    std::string digest;  // SHA-256, 32 bytes
    std::uint64_t bytes = 0;
};

struct listed_object {
    std::string object;
    std::string digest;
    std::int64_t stored_ms = 0;  // wall clock of the store
};

/// A part of an object: `bytes` from `offset` on.
struct byte_range {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

/// "<64 hex digits of the digest>-<16 random hex digits>". The same bytes stored twice are two objects: so
/// one that is about to be erased is never the one that an upload has just made.
std::string object_name(std::string_view digest, std::string_view random_bytes);
/// Empty when this is not the name of an object.
std::optional<std::string> digest_of(std::string_view object);

/// The error for a reader whose bytes are lost or damaged. The operator gets a log line, and the metric
/// herald_artifacts_damaged_total.
error lost_or_damaged(const std::string& object, std::string_view reason);

/// Owned by the composition; thread-safe. Its coroutines run on any event loop and never wait for a disk
/// there. No object is ever in memory as a whole.
class artifact_store {
  public:
    virtual ~artifact_store() = default;

    /// Whether clients should upload in parts.
    virtual bool wants_parts() const noexcept = 0;
    /// Stores the stream to its end. When this returns, the bytes are durable; when it fails, nothing of them
    /// is left. Errors: those of the stream; resource_exhausted (413) beyond `bytes_max`; unavailable when
    /// there is no room, or too much is under way; internal.
    virtual task<stored_object> put(runtime::http::body_stream&, std::uint64_t bytes_max) = 0;
    /// The bytes of the range, which must be within the object. Bytes that do not match the digest are never
    /// sent to their end: a whole object is compared while it is read, and ends with an error in place of its
    /// last piece; a part of one is read only after this process has compared the whole. Errors, here or of
    /// the stream: lost_or_damaged, which is internal; unavailable. No error names a folder.
    virtual task<std::shared_ptr<runtime::http::body_stream>> read(stored_object, byte_range) = 0;
    virtual task<bool> has(std::string object) = 0;
    /// One that is not there counts as erased.
    virtual task<> erase(std::string object) = 0;
    /// In the order of names, at most limits::listed_objects_max behind `after`.
    virtual task<std::vector<listed_object>> list(std::string after) = 0;

    /// Whose bytes it has, by the mark that it keeps; empty when there is none. Errors: unavailable;
    /// internal.
    virtual task<std::optional<store_owner>> owner() = 0;
    /// Durable when this returns. When two set the first mark at once, one of them stays: owner() says which.
    /// Errors: unavailable; internal.
    virtual task<> set_owner(store_owner) = 0;
};

/// A range of several objects, one behind the other. `store` must outlive the stream. Errors: as
/// artifact_store::read; of objects behind the first also in the stream.
task<std::shared_ptr<runtime::http::body_stream>> read_joined(artifact_store&, std::vector<stored_object>,
                                                              byte_range);

}  // namespace herald::storage::artifacts
