// Feeds arbitrary bytes to the request parser and the router, whole and in pieces: nothing may crash, the
// pieces must not matter, and whatever is accepted as a request must be within its limits.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "api/calls/router.hpp"
#include "api/routes/routes.hpp"
#include "api/service.hpp"
#include "runtime/assert.hpp"
#include "runtime/http/limits.hpp"
#include "runtime/http/server/parser.hpp"
#include "schemas/json.hpp"

namespace {

using namespace herald;
using progress = runtime::http::server::request_parser::progress;

/// Every request in the bytes, as "METHOD target body", and how it ended.
std::vector<std::string> read(std::string_view bytes, std::size_t piece_bytes_max) {
    static const api::calls::router routes(api::routes::all_routes());
    runtime::http::server::request_parser parser;
    std::vector<std::string> seen;
    for (;;) {
        const progress now = parser.advance();
        if (now == progress::head) {
            parser.allow_body(limits::management_body_bytes_max);
        } else if (now == progress::complete) {
            const runtime::http::server::request& request = parser.get();
            HERALD_ASSERT(request.target.size() <= limits::request_target_bytes_max);
            HERALD_ASSERT(request.body.size() <= limits::management_body_bytes_max);
            HERALD_ASSERT(request.headers.size() <= limits::request_header_fields_max);
            (void)routes.match(request.method, request.path).has_value();
            (void)schemas::parse_json(request.body).has_value();
            seen.push_back(std::string(name_of(request.method)) + " " + std::string(request.target) + " " +
                           std::string(request.body));
            parser.next();
        } else if (now == progress::failed) {
            seen.push_back("failed");
            return seen;
        } else if (bytes.empty()) {
            return seen;
        } else {
            const auto space = parser.space();
            const std::size_t take = std::min({space.size(), bytes.size(), piece_bytes_max});
            std::memcpy(space.data(), bytes.data(), take);
            parser.received(take);
            bytes.remove_prefix(take);
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto whole = read(bytes, SIZE_MAX);
    for (const std::size_t piece_bytes : {1u, 7u}) {
        auto pieces = read(bytes, piece_bytes);
        // A header that came in pieces is judged when its end has arrived.
        if (pieces.size() + 1 == whole.size() && whole.back() == "failed") pieces.push_back("failed");
        HERALD_ASSERT(whole == pieces);
    }
    return 0;
}
