#include "schemas/endpoints.hpp"

#include <algorithm>

namespace herald::schemas {

std::optional<stage_component> old_component(const endpoint_stage& stage, update_id update) {
    for (const stage_component& each : stage.components) {
        const bool is_kept = each.ratio_ppm > 0 || each.status == component_status::active;
        if (is_kept && (!update || each.update_id != update)) return each;
    }
    return std::nullopt;
}

served_build served_of(const stage_component& component) {
    served_build served;
    static_cast<serving_settings&>(served) = component;
    served.build_id = component.build_id;
    return served;
}

std::optional<served_build> previous_of(const endpoint_stage& stage) {
    const auto old = stage.update_id ? old_component(stage, stage.update_id) : std::nullopt;
    const auto goes_back = [&](const stage_component& each) {
        return each.update_id == stage.update_id && stage.previous &&
               each.build_id == stage.previous->build_id;
    };
    if (!old || std::ranges::any_of(stage.components, goes_back)) return stage.previous;
    return served_of(*old);
}

}  // namespace herald::schemas
