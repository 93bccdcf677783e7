#include "api/predictions/last_look.hpp"

#include "api/predictions/prediction_bodies.hpp"
#include "api/serving/prediction_log.hpp"
#include "runtime/http/server/request_report.hpp"

namespace herald::api::predictions {

using runtime::http::http_response;

last_look::last_look(const prediction_parts& with, const routed_prediction& prediction)
    : x_with(with),
      x_target(prediction.target),
      x_is_v2(is_of_v2(prediction.path.what)),
      x_is_counted(is_posted(prediction.path.what)),
      x_loop_index(prediction.received.loop_index),
      x_took_us(runtime::http::server::steady_us() - prediction.begun_us),
      x_request_id(with.log.wants() ? prediction.received.request_id : std::string_view()) {}

std::optional<http_response> last_look::instead() const {
    const serving::component_route& component = *x_target.component;
    const auto trouble = second_look(x_with.gate, component);
    if (!trouble) return std::nullopt;
    http_response out = refusal_of(*trouble, x_is_v2);
    out.head_lines = component.header_lines;
    return out;
}

void last_look::ended(std::uint16_t status) const {
    if (!x_is_counted) return;
    x_target.endpoint->meter->count(status, x_took_us);
    // A 503 here is this node's: it had no room, or is shutting down. It says nothing about the build.
    if (x_target.component->meter && status != 503)
        x_target.component->meter->count(x_loop_index, status, static_cast<std::uint64_t>(x_took_us));
    if (!x_request_id.empty())
        serving::prediction_log::tell(*x_target.endpoint, x_target.component, status, x_took_us,
                                      x_request_id);
}

}  // namespace herald::api::predictions
