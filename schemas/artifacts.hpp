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

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "digest", self.digest);
        field(2, "bytes", self.bytes);
        field(3, "object", self.object);
        field(4, "references", self.references);
        field(5, "unused_since_ms", self.unused_since_ms);
    }
};

/// A reference to bytes that are stored.
struct blob_part {
    std::string digest;
    std::uint64_t bytes = 0;

    friend bool operator==(const blob_part&, const blob_part&) = default;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "digest", self.digest);
        field(2, "bytes", self.bytes);
    }
};

/// The bytes of one artifact of a version: its parts, one after the other. They count only while the
/// version's record has an entry of this key whose upload is completed; a timer releases others. Version 0:
/// bytes that only wait to be released.
struct artifact_bytes {
    version_id model_version_id;
    std::string key;
    std::vector<blob_part> parts;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "model_version_id", self.model_version_id);
        field(2, "key", self.key);
        field(3, "parts", self.parts);
    }
};

struct uploaded_part {
    std::uint32_t part_number = 0;
    blob_part part;
    bool committed = false;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "part_number", self.part_number);
        field(2, "part", self.part);
        field(3, "committed", self.committed);
    }
};

/// A multipart upload that was not committed yet.
struct unfinished_upload {
    version_id model_version_id;
    std::string key;
    std::string path_digest;           // of the entry's path when it began
    std::vector<uploaded_part> parts;  // by ascending number
    std::int64_t time_begun_ms = 0;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "model_version_id", self.model_version_id);
        field(2, "key", self.key);
        field(3, "path_digest", self.path_digest);
        field(4, "parts", self.parts);
        field(5, "time_begun_ms", self.time_begun_ms);
    }
};

}  // namespace herald::schemas
