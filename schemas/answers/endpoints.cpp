#include "schemas/answers/endpoints.hpp"

#include "runtime/text.hpp"

namespace herald::schemas::answers {

endpoint_stage of(schemas::endpoint_stage row) {
    endpoint_stage out;
    if (const auto previous = previous_of(row)) out.previous_build_id = previous->build_id;
    out.id = row.id;
    out.name = std::move(row.name);
    out.status = row.status;
    for (schemas::stage_component& each : row.components)
        out.components.push_back({each.build_id, static_cast<double>(each.ratio_ppm) / whole_ppm, each.status,
                                  std::move(each.message)});
    out.creator_request = std::move(row.creator_request);
    out.date_created = runtime::iso8601_ms(row.time_created);
    out.date_updated = runtime::iso8601_ms(row.time_updated);
    return out;
}

}  // namespace herald::schemas::answers
