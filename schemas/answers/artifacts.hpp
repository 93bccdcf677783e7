// Answers about the bytes of artifacts (wire.md §3 "artifact upload, download").
#pragma once

#include "schemas/answers/answer.hpp"

namespace herald::schemas::answers {

struct url_for_artifact {
    std::string url;
    bool multipart_upload_ok = false;
    json_text fields{"{}"};  // of a form; Herald's URLs take the bytes alone

    static constexpr integers style = integers::as_strings;
    HERALD_DESCRIBE(url, multipart_upload_ok, fields);
};

struct committed_part {
    std::uint64_t part_number = 0;
    std::string etag;

    HERALD_DESCRIBE(part_number, etag);
};

struct committed_parts {
    std::vector<committed_part> artifact_parts;
    std::uint64_t total_records = 0;
    std::string next_page_token;  // always empty: an upload has few enough parts for one page

    static constexpr integers style = integers::as_strings;
    HERALD_DESCRIBE(artifact_parts, total_records, next_page_token);
};

}  // namespace herald::schemas::answers
