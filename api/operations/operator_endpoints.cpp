#include "api/operations/operator_endpoints.hpp"

#include "api/operations/handlers.hpp"
#include "runtime/crypto.hpp"
#include "runtime/metrics.hpp"
#include "schemas/answers/operations.hpp"

namespace herald::api::operations {
namespace {

using runtime::http::http_response;
namespace answers = schemas::answers;

http_response json(std::string body) {
    http_response out;
    out.body = std::move(body);
    return out;
}

answers::readiness begun(const std::optional<runtime::trouble>& not_ready,
                         const std::optional<runtime::trouble>& told) {
    answers::readiness out;
    out.status = not_ready ? "not ready" : "ready";
    if (told) {
        out.reason = told->reason;
        out.message = told->message;
    }
    return out;
}

}  // namespace

calls::readiness_report report_of(std::optional<runtime::trouble> not_ready) {
    std::string body = answers::text_of(begun(not_ready, not_ready));
    return {std::move(not_ready), std::move(body)};
}

calls::readiness_report report_of(const storage::node::registry_node::status& now,
                                  const std::optional<runtime::trouble>& beside) {
    std::optional<runtime::trouble> not_ready = now.not_ready ? now.not_ready : beside;
    answers::readiness said = begun(not_ready, now.writes_refused ? now.writes_refused : not_ready);
    said.writes_refused = now.writes_refused.has_value();
    said.next_offset = now.next_offset;
    said.hash = runtime::to_hex(now.hash);
    return {std::move(not_ready), answers::text_of(said)};
}

http_response get_health(const calls::public_call&) { return json(answers::text_of(answers::health{"ok"})); }

http_response get_readiness(const calls::public_call& call) {
    calls::readiness_report said = call.ready();
    http_response out = json(std::move(said.body));
    if (said.not_ready) {
        out.status = 503;
        out.headers.push_back({"retry-after", "1"});
    }
    return out;
}

http_response get_metrics(const calls::public_call&) {
    http_response out = json(runtime::metrics_text());
    out.content_type = "text/plain; version=0.0.4; charset=utf-8";
    return out;
}

http_response get_openapi(const calls::public_call& call) { return json(std::string(call.openapi)); }

}  // namespace herald::api::operations
