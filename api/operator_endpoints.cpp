#include "api/operator_endpoints.hpp"

#include "api/server/error_response.hpp"
#include "runtime/metrics.hpp"

namespace herald::api {
namespace {

using runtime::http_response;

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

  private:
    const readiness x_ready;
};

}  // namespace

std::optional<http_response> answer_operator(const request& received, const readiness& ready,
                                             metrics_here metrics_too) {
    if (received.method != runtime::http_method::get && received.method != runtime::http_method::head)
        return std::nullopt;
    if (received.path == "/healthz") return json("{\"status\":\"ok\"}");
    if (received.path == "/readyz") {
        auto body = ready();
        return body ? json(*std::move(body)) : error_response(runtime::unavailable("not ready"));
    }
    if (received.path == "/metrics" && metrics_too == metrics_here::yes) return metrics();
    return std::nullopt;
}

std::unique_ptr<request_handler> make_operator_service(readiness ready) {
    return std::make_unique<operator_service>(std::move(ready));
}

}  // namespace herald::api
