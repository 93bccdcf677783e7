// The bytes of artifacts. Numbers 70 to 79.
#pragma once

#include "schemas/artifacts.hpp"
#include "schemas/commands/envelope.hpp"

namespace herald::schemas::commands {

/// BLOB_STORED: these bytes are durable in the store of artifacts. If they are known already, this object
/// replaces the older one, which is marked for erasure. → nothing
struct store_blob {
    static constexpr command_type type{70};
    static constexpr command_traits traits{.level = 1, .from = sender::node, .passes_full_disk = false};

    std::string digest;
    std::uint64_t bytes = 0;
    std::string object;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "digest", self.digest);
        field(2, "bytes", self.bytes);
        field(3, "object", self.object);
    }
};

/// The bytes of one artifact are these; earlier ones are released. → nothing
struct set_artifact_bytes {
    static constexpr command_type type{71};
    static constexpr command_traits traits{.level = 1, .from = sender::signed_url, .passes_full_disk = false};

    version_id model_version_id;
    std::string key;
    std::string path_digest;  // of the entry's path when the URL was made
    std::string digest;
    /// The ETag of the bytes that they replace; "": there are none yet. Absent: whatever is there.
    std::optional<std::string> replaced = std::nullopt;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "model_version_id", self.model_version_id);
        field(2, "key", self.key);
        field(3, "path_digest", self.path_digest);
        field(4, "digest", self.digest);
        field(5, "replaced", self.replaced);
    }
};

/// A part of a multipart upload has arrived; an earlier one of that number is released. → nothing
struct put_artifact_part {
    static constexpr command_type type{72};
    static constexpr command_traits traits{.level = 1, .from = sender::signed_url, .passes_full_disk = false};

    version_id model_version_id;
    std::string key;
    std::string path_digest;
    std::uint32_t part_number = 0;
    std::string digest;
    std::optional<std::string> replaced = std::nullopt;  // as in set_artifact_bytes, of the part

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "model_version_id", self.model_version_id);
        field(2, "key", self.key);
        field(3, "path_digest", self.path_digest);
        field(4, "part_number", self.part_number);
        field(5, "digest", self.digest);
        field(6, "replaced", self.replaced);
    }
};

/// → nothing
struct commit_artifact_part {
    static constexpr command_type type{73};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = false};

    version_id model_version_id;
    std::string key;
    std::uint32_t part_number = 0;
    std::string etag;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "model_version_id", self.model_version_id);
        field(2, "key", self.key);
        field(3, "part_number", self.part_number);
        field(4, "etag", self.etag);
    }
};

/// The parts, in order, become the artifact's bytes. → nothing
struct commit_multipart_artifact {
    static constexpr command_type type{74};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = false};

    struct named_part {
        std::uint32_t part_number = 0;
        std::string etag;

        static constexpr void describe(auto& self, auto&& field) {
            field(1, "part_number", self.part_number);
            field(2, "etag", self.etag);
        }
    };

    version_id model_version_id;
    std::string key;
    std::vector<named_part> parts;  // that are the whole; empty: all that were uploaded

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "model_version_id", self.model_version_id);
        field(2, "key", self.key);
        field(3, "parts", self.parts);
    }
};

/// Removes the entry from the version's record, and its bytes. → nothing
struct delete_artifact {
    static constexpr command_type type{75};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = true};

    version_id model_version_id;
    std::string key;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "model_version_id", self.model_version_id);
        field(2, "key", self.key);
    }
};

/// From the holder of the claim "artifact-collector": old objects of which its state has no row. Those that
/// no row has are marked for erasure. → nothing
struct find_stray_objects {
    static constexpr command_type type{76};
    static constexpr command_traits traits{.level = 1, .from = sender::node, .passes_full_disk = true};

    std::vector<blob> found;  // digest and object
    std::uint64_t token = 0;  // of the claim

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "found", self.found);
        field(2, "token", self.token);
    }
};

/// From the same: these marked objects are no longer in the store. → nothing
struct forget_erased_objects {
    static constexpr command_type type{77};
    static constexpr command_traits traits{.level = 1, .from = sender::node, .passes_full_disk = true};

    std::vector<std::string> objects;
    std::uint64_t token = 0;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "objects", self.objects);
        field(2, "token", self.token);
    }
};

using artifact_commands =
    command_list<store_blob, set_artifact_bytes, put_artifact_part, commit_artifact_part,
                 commit_multipart_artifact, delete_artifact, find_stray_objects, forget_erased_objects>;

}  // namespace herald::schemas::commands
