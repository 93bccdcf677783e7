// The bytes of artifacts. Numbers 70 to 79.
#pragma once

#include "schemas/artifacts.hpp"
#include "schemas/commands/envelope.hpp"

namespace herald::schemas::commands {

/// BLOB_STORED: these bytes are durable in the store of artifacts. If they are known already, this object
/// replaces the older one, which is marked for erasure. → nothing
struct store_blob {
    static constexpr command_type type{70};
    static constexpr command_traits traits{.from = sender::node};

    std::string digest;
    std::uint64_t bytes = 0;
    std::string object;

    HERALD_DESCRIBE(digest, bytes, object);
};

/// The bytes of one artifact are these; earlier ones are released. → nothing
struct set_artifact_bytes {
    static constexpr command_type type{71};
    static constexpr command_traits traits{.from = sender::signed_url};

    version_id model_version_id;
    std::string key;
    std::string path_digest;  // of the entry's path when the URL was made
    std::string digest;
    /// The ETag of the bytes that they replace; "": there are none yet. Absent: whatever is there.
    std::optional<std::string> replaced = std::nullopt;

    HERALD_DESCRIBE(model_version_id, key, path_digest, digest, replaced);
};

/// A part of a multipart upload has arrived; an earlier one of that number is released. → nothing
struct put_artifact_part {
    static constexpr command_type type{72};
    static constexpr command_traits traits{.from = sender::signed_url};

    version_id model_version_id;
    std::string key;
    std::string path_digest;
    std::uint32_t part_number = 0;
    std::string digest;
    std::optional<std::string> replaced = std::nullopt;  // as in set_artifact_bytes, of the part

    HERALD_DESCRIBE(model_version_id, key, path_digest, part_number, digest, replaced);
};

/// → nothing
struct commit_artifact_part {
    static constexpr command_type type{73};

    version_id model_version_id;
    std::string key;
    std::uint32_t part_number = 0;
    std::string etag;

    HERALD_DESCRIBE(model_version_id, key, part_number, etag);
};

/// The parts, in order, become the artifact's bytes. → nothing
struct commit_multipart_artifact {
    static constexpr command_type type{74};

    struct named_part {
        std::uint32_t part_number = 0;
        std::string etag;

        HERALD_DESCRIBE(part_number, etag);
    };

    version_id model_version_id;
    std::string key;
    std::vector<named_part> parts;  // that are the whole; empty: all that were uploaded

    HERALD_DESCRIBE(model_version_id, key, parts);
};

/// Removes the entry from the version's record, and its bytes. → nothing
struct delete_artifact {
    static constexpr command_type type{75};
    static constexpr command_traits traits{.passes_full_disk = true};

    version_id model_version_id;
    std::string key;

    HERALD_DESCRIBE(model_version_id, key);
};

/// From the holder of the claim "artifact-collector": old objects of which its state has no row. Those that
/// no row has are marked for erasure. → nothing
struct find_stray_objects {
    static constexpr command_type type{76};
    static constexpr command_traits traits{.from = sender::node, .passes_full_disk = true};

    std::vector<blob> found;  // digest and object
    std::uint64_t token = 0;  // of the claim

    HERALD_DESCRIBE(found, token);
};

/// From the same: these marked objects are no longer in the store. → nothing
struct forget_erased_objects {
    static constexpr command_type type{77};
    static constexpr command_traits traits{.from = sender::node, .passes_full_disk = true};

    std::vector<std::string> objects;
    std::uint64_t token = 0;

    HERALD_DESCRIBE(objects, token);
};

using artifact_commands =
    command_list<store_blob, set_artifact_bytes, put_artifact_part, commit_artifact_part,
                 commit_multipart_artifact, delete_artifact, find_stray_objects, forget_erased_objects>;

}  // namespace herald::schemas::commands
