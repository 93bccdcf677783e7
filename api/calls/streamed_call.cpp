#include "api/calls/streamed_call.hpp"

#include "runtime/text.hpp"

namespace herald::api::calls {

runtime::http::body_stream& streamed_call::body() {
    if (x_request.stream) return *x_request.stream;
    return x_whole.emplace(x_request.body);
}

task<storage::node::registry_node::reading> streamed_call::read_state() const {
    const time_limit limit(x_loop, x_match.target->deadline_ms);
    co_return co_await calls::read_state(x_services.registry, limit);
}

task<schemas::commands::outcome> streamed_call::append(schemas::commands::command_type type, std::string body,
                                                       schemas::user_id user) {
    const time_limit limit(x_loop, x_match.target->deadline_ms);
    schemas::commands::request_identity who;
    who.principal = user;
    who.scope = std::string(name_of(x_request.method)) + " " + std::string(x_match.target->pattern);
    who.address = x_request.remote_address;
    const std::string_view trace = x_request.header("traceparent").value_or("");
    if (runtime::is_traceparent(trace)) who.traceparent = trace;
    who.request_id = x_request.request_id;
    command_to_append command{type, std::move(body), std::move(who), {}};
    co_return co_await append_command(x_services, limit, std::move(command));
}

}  // namespace herald::api::calls
