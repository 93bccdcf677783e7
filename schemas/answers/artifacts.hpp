// Answers about the bytes of artifacts (wire.md §3 "artifact upload, download").
#pragma once

#include "schemas/answers/answer.hpp"

namespace herald::schemas::answers {

struct url_for_artifact {
    std::string url;
    bool multipart_upload_ok = false;
    json_text fields{"{}"};  // of a form; Herald's URLs take the bytes alone

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "url", self.url);
        field(2, "multipart_upload_ok", self.multipart_upload_ok);
        field(3, "fields", self.fields);
    }
};

struct committed_part {
    std::uint64_t part_number = 0;
    std::string etag;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "part_number", self.part_number);
        field(2, "etag", self.etag);
    }
};

struct committed_parts {
    std::vector<committed_part> artifact_parts;
    std::uint64_t total_records = 0;
    std::string next_page_token;  // always empty: an upload has few enough parts for one page

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "artifact_parts", self.artifact_parts);
        field(2, "total_records", self.total_records);
        field(3, "next_page_token", self.next_page_token);
    }
};

}  // namespace herald::schemas::answers
