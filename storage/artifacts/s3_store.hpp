// The store of artifacts in a bucket of S3, Amazon's or any server that speaks its language.
#pragma once

#include <memory>
#include <string>

#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "runtime/event_loop.hpp"
#include "runtime/http/client/client.hpp"
#include "runtime/random.hpp"
#include "storage/artifacts/s3_address.hpp"
#include "storage/artifacts/s3_signing.hpp"
#include "storage/artifacts/store.hpp"

namespace herald::storage::artifacts {

struct s3_options {
    s3_place place;
    std::string region = "us-east-1";
    std::string endpoint;  // empty: Amazon's of the region
    s3_credentials credentials;
    /// Its CA file and DNS servers count. Any address may be connected to: the operator has named the server.
    runtime::http::client::client_options client;
};

/// Keys, behind the prefix:
///
///     objects/0123…           the bytes of an object; 16 random hex digits
///     objects/0123…-abcd…     no bytes: they are whole, and this is their digest
///     owner                   whose bytes these are
///
/// While bytes arrive, their digest is not known, and no key can be changed later: so the digest has a key of
/// its own, written when the bytes are durable. Bytes without it are what an upload left that did not come to
/// its end: list() removes them, and uploads in parts that were never finished, when they are older than
/// limits::stray_object_kept_ms.
///
/// Up to limits::s3_part_bytes of an upload are in memory. It is one PUT if that is all, otherwise an upload
/// in parts. Each is signed with its SHA-256, so that the server refuses what has changed on the way. Bytes
/// count as compared with their digest when this process has sent them or read them as a whole, and as long
/// as their ETag is the same.
///
/// Any number of processes may share the bucket. The pool's threads compute digests; pool, random source and
/// clock must outlive the store, and the loops that call it must have stopped before it ends. Blocks while it
/// asks the server: may it list, write, read and delete? Errors: internal, saying what would be right.
result<std::unique_ptr<artifact_store>> open_s3_store(const s3_options&, runtime::blocking_pool&,
                                                      runtime::random_source&, const runtime::clock&);

}  // namespace herald::storage::artifacts
