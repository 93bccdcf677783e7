#include "api/operations/operator_endpoints.hpp"

#include "api/calls/router.hpp"
#include "runtime/crypto.hpp"
#include "runtime/http/server/error_response.hpp"
#include "runtime/metrics.hpp"
#include "schemas/json_codec.hpp"

namespace herald::api::operations {
namespace {

using runtime::http::http_response;
using runtime::http::server::error_response;
using runtime::http::server::request;
using runtime::http::server::request_handler;

http_response json(std::string body) {
    http_response out;
    out.body = std::move(body);
    return out;
}

http_response metrics() {
    http_response out = json(runtime::metrics_text());
    out.content_type = "text/plain; version=0.0.4; charset=utf-8";
    return out;
}

schemas::object_writer begun(const std::optional<runtime::trouble>& not_ready,
                             const std::optional<runtime::trouble>& told) {
    schemas::object_writer out;
    out.text("status", not_ready ? "not ready" : "ready");
    if (told) out.text("reason", told->reason).text("message", told->message);
    return out;
}

// RFC 9110 §9.3.7: what the server as a whole understands.
http_response options_of_server() {
    http_response out;
    out.status = 204;
    out.headers.push_back({"allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"});
    return out;
}

class operator_service final : public request_handler {
  public:
    explicit operator_service(readiness ready) : x_ready(std::move(ready)) {}

    bool handle_now(const request& received, http_response& out) override {
        auto answer = answer_operator(received, x_ready, metrics_here::yes);
        out = answer ? *std::move(answer)
                     : error_response(runtime::not_found("there are /healthz, /readyz and /metrics here"));
        return true;
    }
    boost::asio::awaitable<http_response> handle(const request&) override { co_return http_response(); }
    boost::asio::awaitable<std::optional<http_response>> judge(const request& head) override {
        http_response out;
        handle_now(head, out);
        co_return out;
    }

  private:
    const readiness x_ready;
};

}  // namespace

readiness_report report_of(std::optional<runtime::trouble> not_ready) {
    std::string body = begun(not_ready, not_ready).finish();
    return {std::move(not_ready), std::move(body)};
}

readiness_report report_of(const storage::node::registry_node::status& now,
                           const std::optional<runtime::trouble>& beside) {
    std::optional<runtime::trouble> not_ready = now.not_ready ? now.not_ready : beside;
    const auto& refused = now.writes_refused ? now.writes_refused : not_ready;
    std::string body = begun(not_ready, refused)
                           .flag("writes_refused", now.writes_refused.has_value())
                           .number("next_offset", now.next_offset)
                           .text("hash", runtime::to_hex(now.hash))
                           .finish();
    return {std::move(not_ready), std::move(body)};
}

std::optional<http_response> answer_operator(const request& received, const readiness& ready,
                                             metrics_here metrics_too) {
    if (received.path == "*") return options_of_server();
    const bool is_metrics = received.path == "/metrics" && metrics_too == metrics_here::yes;
    if (!is_metrics && received.path != "/healthz" && received.path != "/readyz") return std::nullopt;
    if (auto refusal = refuse_all_but_get(received)) return refusal;
    if (is_metrics) return metrics();
    if (received.path == "/healthz") return json("{\"status\":\"ok\"}");
    readiness_report said = ready();
    http_response out = json(std::move(said.body));
    if (said.not_ready) {
        out.status = 503;
        out.headers.push_back({"retry-after", "1"});
    }
    return out;
}

std::optional<http_response> refuse_all_but_get(const request& received) {
    if (received.method == runtime::http::http_method::get ||
        received.method == runtime::http::http_method::head)
        return std::nullopt;
    return calls::refusal_response(calls::wrong_method(received.method, received.path, "GET, HEAD"));
}

std::unique_ptr<request_handler> make_operator_service(readiness ready) {
    return std::make_unique<operator_service>(std::move(ready));
}

}  // namespace herald::api::operations
