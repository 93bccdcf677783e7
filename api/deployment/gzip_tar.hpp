// A tar archive in gzip's form, made while it is sent: of any size, with one piece in memory. The bytes are
// stored, not compressed: models hardly shrink, and so sending needs no processor time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/calls/transfer_places.hpp"
#include "runtime/http/body.hpp"
#include "storage/artifacts/store.hpp"

namespace herald::api::deployment {

/// A file of the archive: a text, or the bytes of objects one behind the other.
struct archived_file {
    std::string name;  // relative, with slashes
    std::string text;
    std::vector<storage::artifacts::stored_object> objects;

    std::uint64_t bytes() const noexcept;
};

/// The same files make the same bytes. `store` must outlive the stream, which keeps its place among the
/// downloads. Errors of the stream: as read_joined.
std::shared_ptr<runtime::http::body_stream> gzip_tar(storage::artifacts::artifact_store& store,
                                                     std::vector<archived_file>,
                                                     calls::transfer_places::place);

}  // namespace herald::api::deployment
