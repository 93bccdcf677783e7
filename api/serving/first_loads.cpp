#include "api/serving/first_loads.hpp"

#include <algorithm>

#include "api/serving/limits.hpp"

namespace herald::api::serving {

bool first_loads::are_over(const std::vector<std::shared_ptr<component>>& all, std::int64_t now_ms) {
    const auto untried = static_cast<std::size_t>(std::ranges::count_if(
        all, [](const auto& each) { return !each->model() && each->why_not_loaded().empty(); }));
    if (untried == 0) return true;
    if (!x_untried || untried < *x_untried) {
        x_untried = untried;
        x_since_ms = now_ms;
    }
    return now_ms - x_since_ms >= limits::model_load_awaited_ms;
}

}  // namespace herald::api::serving
