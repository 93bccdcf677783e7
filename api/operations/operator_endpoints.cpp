#include "api/operations/operator_endpoints.hpp"

#include "api/calls/call.hpp"
#include "api/calls/public_call.hpp"
#include "api/calls/rows.hpp"
#include "api/operations/routes.hpp"
#include "runtime/crypto.hpp"
#include "runtime/metrics.hpp"
#include "runtime/text.hpp"
#include "schemas/answers/operations.hpp"

namespace herald::api::operations {
namespace {

using namespace calls::rows;
using runtime::http::http_response;

constexpr std::size_t shown_bytes = 100;

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

result<calls::readiness_report> report_of_worker(std::optional<runtime::trouble> not_ready,
                                                 calls::ready_for what) {
    if (what == calls::ready_for::reads)
        return runtime::invalid_argument("a worker answers no reads; ask it for /readyz");
    return report_of(std::move(not_ready));
}

calls::readiness_report report_of(const storage::node::registry_node::status& now,
                                  const std::optional<runtime::trouble>& beside, calls::ready_for what) {
    const auto& own = what == calls::ready_for::reads ? now.reads_refused : now.not_ready;
    std::optional<runtime::trouble> not_ready = own ? own : beside;
    answers::readiness said = begun(not_ready, not_ready ? not_ready : now.writes_refused);
    said.writes_refused = now.writes_refused.has_value();
    said.next_offset = now.next_offset;
    said.hash = runtime::to_hex(now.hash);
    return {std::move(not_ready), answers::text_of(said)};
}

namespace {

result<http_response> get_health(const calls::public_call&) {
    return json(answers::text_of(answers::health{"ok"}));
}

result<calls::ready_for> asked_for(const calls::public_call& call) {
    const auto what = calls::find_in_query(call.received.query, "for");
    if (!what) return calls::ready_for::everything;
    if (*what == "reads") return calls::ready_for::reads;
    return runtime::invalid_argument({"the query parameter for must be reads, or must not be there; it is \"",
                                      runtime::shortened(*what, shown_bytes), "\""});
}

result<http_response> get_readiness(const calls::public_call& call) {
    const auto what = asked_for(call);
    if (!what) return what.error();
    auto said = call.ready(*what);
    if (!said) return said.error();
    http_response out = json(std::move(said->body));
    if (said->not_ready) {
        out.status = 503;
        out.headers.push_back({"retry-after", "1"});
    }
    return out;
}

result<http_response> get_metrics(const calls::public_call&) {
    http_response out = json(runtime::metrics_text());
    out.content_type = "text/plain; version=0.0.4; charset=utf-8";
    return out;
}

result<http_response> get_openapi(const calls::public_call& call) { return json(std::string(call.openapi)); }

result<http_response> get_keys(const calls::public_call& call) { return json(std::string(call.keys)); }

constexpr calls::route metrics =
    open("get_metrics", "/metrics", get_metrics, nullptr, "Metrics, in the text format of Prometheus");
constexpr calls::route health = open("get_health", "/healthz", get_health,
                                     schemas::answer_schema<answers::health>, "Whether the process lives");
constexpr calls::query_parameter readiness_query[] = {{"for",
                                                       "reads: whether reads and predictions are answered, "
                                                       "which go on for a while when the log is out of reach",
                                                       false, false}};
constexpr calls::route ready = [] {
    calls::route row =
        open("get_readiness", "/readyz", get_readiness, schemas::answer_schema<answers::readiness>,
             "Whether the process serves, and if not, why");
    row.may_be_503 = true;
    row.query = readiness_query;
    return row;
}();

const calls::route operators[] = {metrics, health, ready};

const calls::route others[] = {
    open("get_openapi", "/api/openapi.json", get_openapi, schemas::answer_schema<answers::openapi>,
         "This document"),
    open("get_keys", "/.well-known/jwks.json", get_keys, schemas::answer_schema<answers::key_set>,
         "The public keys of ed25519 signatures (v1a) in webhook-signature"),
};

}  // namespace

std::span<const calls::route> operator_routes() { return operators; }
std::span<const calls::route> document_routes() { return others; }

}  // namespace herald::api::operations
