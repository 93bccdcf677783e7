// Answers about the bytes of artifacts (wire.md §3 "artifact upload, download").
#pragma once

#include "schemas/answers/answer.hpp"

namespace herald::schemas::answers {

struct url_for_artifact {
    std::string url;
    bool multipart_upload_ok = false;
    json_text fields{"{}"};  // of a form; Herald's URLs take the bytes alone

    HERALD_DESCRIBE(url, multipart_upload_ok, fields);
};

struct committed_part {
    std::uint64_t part_number = 0;
    std::string etag;

    HERALD_DESCRIBE(part_number, etag);
};

/// One page holds all parts of an upload.
struct committed_parts : page<"artifact_parts", committed_part> {};

}  // namespace herald::schemas::answers
