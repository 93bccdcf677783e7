#include "api/deployment/component_messages.hpp"
#include "api/deployment/services.hpp"

#include "storage/registry/find/serving_nodes.hpp"

namespace herald::api::deployment {

std::string message_of(const calls::reading_call& call, const schemas::stage_component& one) {
    if (!one.message.empty()) return one.message;
    const bool is_awaited = one.status == schemas::component_status::creating;
    if (is_awaited && !storage::registry::find::is_any_serving(call.state()))
        return "no node loads it: no node that serves predictions is in contact (--serve-predictions)";
    const auto& why_not = call.of<services>().why_not_loaded;
    const std::string why = why_not ? why_not(one.build_id, one.batching) : std::string();
    return why.empty() ? why : "node " + call.with().registry.me().name + ": " + why;
}

}  // namespace herald::api::deployment
