#include "api/predictions/prediction_bodies.hpp"

#include <algorithm>
#include <array>

#include "api/predictions/elements.hpp"
#include "api/predictions/limits.hpp"
#include "runtime/http/server/error_response.hpp"
#include "runtime/inflated.hpp"
#include "runtime/text.hpp"
#include "schemas/json.hpp"

namespace herald::api::predictions {
namespace {

using runtime::http::http_response;
using runtime::http::server::error_response;
using serving::engines::body_response;

/// The header in which the published client looks for the id of its prediction (client_calls.md §7).
constexpr std::string_view clients_id_name = "verta-request-id";

/// x-gzip is gzip (RFC 9110 §8.4.1.3).
bool is_known_coding(std::string_view coding) {
    return std::ranges::any_of(std::array{"gzip", "x-gzip", "deflate"},
                               [&](const char* each) { return runtime::equals_ignoring_case(coding, each); });
}

/// Takes the text before the next sign off the front, without white space around it.
std::string_view next_part(std::string_view& rest, char sign) noexcept {
    const std::size_t end = rest.find(sign);
    std::string_view out = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    while (!out.empty() && (out.front() == ' ' || out.front() == '\t')) out.remove_prefix(1);
    while (!out.empty() && (out.back() == ' ' || out.back() == '\t')) out.remove_suffix(1);
    return out;
}

}  // namespace

result<void> inflate_body(const routed_prediction& prediction, plain_body& body, prediction_memory& memory) {
    const std::size_t bytes_max = prediction.component().body_bytes_max;
    body.bytes = prediction.received.body;
    const auto coding = prediction.received.header("content-encoding");
    if (coding && !coding->empty() && !runtime::equals_ignoring_case(*coding, "identity")) {
        if (!is_known_coding(*coding))
            return error{error_code::invalid_argument,
                         "the body has the Content-Encoding " + std::string(*coding) +
                             "; it must be gzip, deflate or identity",
                         415};
        // The most it may become, and what it had before it grew: its real size shows only once it is
        // inflated.
        const std::size_t most = std::min(bytes_max, body.bytes.size() * limits::gzip_factor_max);
        if (const auto fits = memory.resize(most + most / 2); !fits) return fits;
        auto whole = runtime::inflated(body.bytes, bytes_max);
        if (!whole) return whole.error();
        body.inflated = *std::move(whole);
        body.bytes = body.inflated;
        if (const auto fits = memory.resize(body.inflated.capacity()); !fits) return fits;
    }
    if (body.bytes.size() <= bytes_max) return {};
    return error{error_code::resource_exhausted,
                 "the body is " + std::to_string(body.bytes.size()) + " bytes long; it must be at most " +
                     std::to_string(bytes_max),
                 413};
}

bool accepts_strict_json(std::string_view accept) noexcept {
    while (!accept.empty()) {
        std::string_view range = next_part(accept, ',');
        if (!runtime::equals_ignoring_case(next_part(range, ';'), "application/json")) continue;
        while (!range.empty()) {
            const std::string_view parameter = next_part(range, ';');
            if (runtime::equals_ignoring_case(parameter, "strict") ||
                runtime::equals_ignoring_case(parameter, "strict=true"))
                return true;
        }
    }
    return false;
}

result<void> write_json(result<std::string> body, http_response& out) {
    if (!body) return body.error();
    if (const auto good = check_answer_bytes(body->size()); !good) return good;
    out.id_also_as = clients_id_name;
    out.body = *std::move(body);
    return {};
}

http_response json_response(std::string body) {
    http_response out;
    out.id_also_as = clients_id_name;
    out.body = std::move(body);
    return out;
}

http_response response_of(body_response from) {
    http_response out;
    out.id_also_as = clients_id_name;
    out.status = from.status;
    out.content_type = std::move(from.content_type);
    out.body = std::move(from.body);
    if (!from.content_encoding.empty())
        out.headers.push_back({"content-encoding", std::move(from.content_encoding)});
    if (!from.retry_after.empty()) out.headers.push_back({"retry-after", std::move(from.retry_after)});
    out.stream = std::move(from.stream);
    out.stream_bytes = from.stream_bytes;
    return out;
}

http_response refusal_of(const error& why, bool is_of_v2_protocol) {
    http_response out = error_response(why);
    out.id_also_as = clients_id_name;
    if (is_of_v2_protocol) out.body = schemas::object_writer().text("error", why.message).finish();
    return out;
}

}  // namespace herald::api::predictions
