// The files of the console, as they are in the program: api/console/embed makes them of api/console/web.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace herald::api::console {

struct asset {
    std::string_view name;  // with a hash of the content, but for index.html
    std::string_view content_type;
    std::string_view etag;  // strong, of the content
    std::string_view gzip;  // the content, compressed
};

/// index.html is the first.
std::span<const asset> assets();

}  // namespace herald::api::console
