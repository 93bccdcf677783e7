#include "api/serving/engines/upstream_exchange.hpp"

#include <algorithm>

#include "api/serving/engines/limits.hpp"
#include "runtime/text.hpp"

namespace herald::api::serving::engines {
namespace {

namespace client = runtime::http::client;

error bad_gateway(std::string message) {
    error out = runtime::internal(std::move(message));
    out.http_status_override = 502;
    return out;
}

std::string field_of(const client::answer& answer, std::string_view name) {
    for (const auto& [each, value] : answer.headers)
        if (runtime::equals_ignoring_case(each, name)) return value;
    return "";
}

/// Seconds as the server said them; a date, or anything else, becomes one second.
std::string seconds_to_wait(const std::string& said) {
    const bool is_number =
        !said.empty() && said.size() <= limits::upstream_retry_after_bytes_max &&
        std::all_of(said.begin(), said.end(), [](char each) { return each >= '0' && each <= '9'; });
    return is_number ? said : "1";
}

body_response passed_on(client::answer&& answer, std::uint16_t status) {
    body_response out;
    out.status = status;
    out.content_type = field_of(answer, "content-type");
    out.content_encoding = field_of(answer, "content-encoding");
    out.body = std::move(answer.body);
    return out;
}

std::string why_no_answer(const client::answer& answer) {
    return (answer.has_begun ? "the upstream server's answer cannot be used: "
                             : "the upstream server did not respond: ") +
           answer.message;
}

}  // namespace

result<std::string> health_url(std::string_view upstream_url, std::string_view health_path) {
    const auto refused = [&](const char* right) {
        return runtime::invalid_argument({"health_path is \"", health_path, "\"; it must ", right});
    };
    if (health_path.empty() || health_path.front() != '/') return refused("begin with a slash");
    const bool is_clean = std::all_of(health_path.begin(), health_path.end(),
                                      [](char each) { return each > ' ' && each < '\x7f' && each != '#'; });
    if (!is_clean) return refused("hold only visible ASCII without #, as a path of a URL does");
    const std::size_t scheme = upstream_url.find("://");
    const std::size_t authority = scheme == std::string_view::npos ? 0 : scheme + 3;
    return std::string(upstream_url.substr(0, upstream_url.find_first_of("/?", authority))) +
           std::string(health_path);
}

client::request request_to(const std::string& url, const std::string& pool_key, body_request from,
                           std::int64_t deadline_ms) {
    client::request out;
    out.method = runtime::http::http_method::post;
    out.location = url;
    out.pool_key = pool_key;
    const std::string json = "application/json";
    out.headers.push_back({"content-type", from.content_type.empty() ? json : std::move(from.content_type)});
    // Whether the caller could read another form is not known here.
    out.headers.push_back({"accept-encoding", "identity"});
    if (!from.request_id.empty()) {
        out.headers.push_back({"svc-request-id", from.request_id});
        out.headers.push_back({"x-request-id", std::move(from.request_id)});
    }
    out.body = std::make_shared<const std::string>(std::move(from.body));
    // It may have been computed for a long time, and done something, before the connection ended.
    out.on_reused = client::repeat::unless_begun;
    out.answer = client::answer_body::collected_if_short;
    out.answer_body_bytes_max = limits::upstream_whole_answer_bytes_max;
    out.deadline_ms = deadline_ms;
    out.deadline_ends_body = true;
    out.connect_ms_max = std::min(out.connect_ms_max, deadline_ms);
    return out;
}

result<body_response> meaning_of(client::answer answer) {
    if (answer.location_is_full)
        return runtime::unavailable(
            {"too many calls of the upstream server are under way on this node: ", answer.message});
    if (answer.own_shortage)
        return runtime::unavailable(
            {"this node lacks file descriptors or memory to call the upstream server: ", answer.message});
    if (answer.failed == client::failure::timeout)
        return error{error_code::deadline_exceeded,
                     std::string("the upstream server did not ") +
                         (answer.has_begun ? "finish its answer" : "respond") +
                         " before the deadline: " + answer.message,
                     0};
    if (answer.failed != client::failure::none || !answer.status) return bad_gateway(why_no_answer(answer));
    const std::uint16_t status = *answer.status;
    if (status >= 200 && status < 300) return passed_on(std::move(answer), status);
    if (status == 400 || status == 422) return passed_on(std::move(answer), 400);
    if (status == 429) {
        std::string wait = seconds_to_wait(field_of(answer, "retry-after"));
        body_response out = passed_on(std::move(answer), status);
        out.retry_after = std::move(wait);
        return out;
    }
    return bad_gateway("the upstream server answered " + std::to_string(status) +
                       "; only 2xx, 400, 422 and 429 are passed on");
}

std::string why_unhealthy(const client::answer& answer, bool has_health_path, bool was_connected) {
    if (!has_health_path) return was_connected ? "" : why_no_answer(answer);
    if (answer.failed != client::failure::none || !answer.status) return why_no_answer(answer);
    if (*answer.status >= 200 && *answer.status < 300) return "";
    return "its health check answered " + std::to_string(*answer.status) + ", not 2xx";
}

}  // namespace herald::api::serving::engines
