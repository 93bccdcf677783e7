#include "schemas/endpoints.hpp"

namespace herald::schemas {

std::optional<stage_component> old_component(const endpoint_stage& stage, update_id update) {
    for (const stage_component& each : stage.components) {
        const bool is_kept = each.ratio_ppm > 0 || each.status == component_status::active;
        if (is_kept && (!update || each.update_id != update)) return each;
    }
    return std::nullopt;
}

std::optional<served_build> previous_of(const endpoint_stage& stage) {
    const auto old = stage.update_id ? old_component(stage, stage.update_id) : std::nullopt;
    if (!old) return stage.previous;
    served_build served;
    static_cast<serving_settings&>(served) = *old;
    served.build_id = old->build_id;
    return served;
}

}  // namespace herald::schemas
