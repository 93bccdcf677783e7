// The image of a build: an archive in docker's form with the model in its one layer. Made while it is sent,
// never in memory as a whole.
//
//     layer.tar           the layer: model/model.onnx, and model/build.json, which says what it is of
//     <64 hex>.json       the image's configuration, named by its digest; it has the layer's digest
//     manifest.json       which of these is what
//
// The layer stands first, so that one pass is enough: its digest is known when the configuration is due.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/http/body.hpp"
#include "schemas/ids.hpp"
#include "storage/artifacts/store.hpp"

namespace herald::api::serving::images {

struct image_content {
    schemas::build_id build;
    schemas::version_id version;
    std::vector<storage::artifacts::stored_object> model;  // its parts, one behind the other
};

/// Of the whole archive.
std::uint64_t image_bytes(const image_content&);

/// The same content makes the same bytes. `store` must outlive the stream. With a digest (SHA-256, 32 bytes)
/// a stream of other bytes ends with an error in place of its last piece. Errors: as read_joined.
std::shared_ptr<runtime::http::body_stream> image_tar(storage::artifacts::artifact_store& store,
                                                      image_content, std::string digest);

/// SHA-256 of the archive, 32 bytes, which is read once for it. Errors: as read_joined.
storage::artifacts::task<std::string> image_digest(storage::artifacts::artifact_store& store, image_content);

}  // namespace herald::api::serving::images
