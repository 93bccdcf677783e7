#include "api/serving/prediction_log.hpp"

#include "runtime/log.hpp"
#include "runtime/log_events.hpp"

namespace herald::api::serving {

void prediction_log::tell(const endpoint_route& endpoint, const component_route* component,
                          std::uint16_t status, std::int64_t duration_us,
                          std::string_view request_id) noexcept {
    runtime::log(runtime::log_level::info, runtime::log_events::prediction,
                 {{"endpoint", std::string_view(endpoint.path)},
                  {"build", component ? static_cast<std::int64_t>(component->build.value) : std::int64_t{0}},
                  {"status", static_cast<std::int64_t>(status)},
                  {"duration_us", duration_us},
                  {"request_id", request_id}});
}

}  // namespace herald::api::serving
