// Reads the few elements of an S3 server's XML that Herald needs. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace herald::storage::artifacts {

/// The text of the first element of that name, with entities replaced; empty when there is none.
std::optional<std::string> xml_text(std::string_view xml, std::string_view element);

struct s3_failure {
    std::string code;  // "NoSuchBucket"; empty when the body says none
    std::string message;
};
/// Empty when the body is not an error.
std::optional<s3_failure> failure_in(std::string_view xml);

struct s3_key {
    std::string key;
    std::int64_t modified_ms = 0;
};
struct s3_keys {
    std::vector<s3_key> keys;
    bool is_truncated = false;  // more follow
};
/// An answer to ListObjectsV2. Empty when the body is not such an answer, or one of its times cannot be read.
std::optional<s3_keys> keys_in(std::string_view xml);

struct unfinished_upload {
    std::string key;
    std::string id;
    std::int64_t begun_ms = 0;
};
/// An answer to ListMultipartUploads; those of the first page.
std::optional<std::vector<unfinished_upload>> uploads_in(std::string_view xml);

/// "2026-01-31T09:30:00.000Z", also without milliseconds.
std::optional<std::int64_t> xml_time_ms(std::string_view text);

/// The body of CompleteMultipartUpload, from the ETags of parts 1, 2, ….
std::string completion_of(const std::vector<std::string>& etags);

}  // namespace herald::storage::artifacts
