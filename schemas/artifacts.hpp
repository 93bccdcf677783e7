// The bytes of artifacts, as the registry knows them (design.md §5): which there are, and whose they are.
#pragma once

#include "schemas/describe.hpp"

namespace herald::schemas {

/// Bytes that are stored, by their digest.
struct blob {
    std::string digest;  // SHA-256, 32 bytes
    std::uint64_t bytes = 0;
    std::string object;  // where the store of artifacts has them
    std::uint64_t references = 0;
    std::int64_t unused_since_ms =
        0;  // since when there is no reference; with references: since when there was none

    HERALD_DESCRIBE(digest, bytes, object, references, unused_since_ms);
};

/// A reference to bytes that are stored.
struct blob_part {
    std::string digest;
    std::uint64_t bytes = 0;

    friend bool operator==(const blob_part&, const blob_part&) = default;
    HERALD_DESCRIBE(digest, bytes);
};

/// The bytes of one artifact of a version: its parts, one after the other. They count only while the
/// version's record has an entry of this key whose upload is completed; a timer releases others. Version 0:
/// bytes that only wait to be released.
struct artifact_bytes {
    version_id model_version_id;
    std::string key;
    std::vector<blob_part> parts;

    HERALD_DESCRIBE(model_version_id, key, parts);
};

struct uploaded_part {
    std::uint32_t part_number = 0;
    blob_part part;
    bool committed = false;

    HERALD_DESCRIBE(part_number, part, committed);
};

/// A multipart upload that was not committed yet.
struct unfinished_upload {
    version_id model_version_id;
    std::string key;
    std::string path_digest;           // of the entry's path when it began
    std::vector<uploaded_part> parts;  // by ascending number
    std::int64_t time_begun_ms = 0;

    HERALD_DESCRIBE(model_version_id, key, path_digest, parts, time_begun_ms);
};

}  // namespace herald::schemas
