// The id of a request: the caller's if there is one, otherwise a new one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/http/server/request.hpp"

namespace herald::runtime::http::server {

struct request_id {
    std::string text;
    /// The name under which the caller sent it, unless that is one of the server's own names: the answer
    /// repeats it under this name too. Points into the request.
    std::string_view echo_name;
};

/// `own_names` are in lower case (response_writer::request_id_names()). An id is visible ASCII of at most
/// limits::request_id_bytes_max; any other value is ignored.
request_id id_of(std::span<const header_view>, const std::vector<std::string>& own_names);

}  // namespace herald::runtime::http::server
