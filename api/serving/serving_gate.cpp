#include "api/serving/serving_gate.hpp"

#include <utility>

namespace herald::api::serving {

void serving_gate::close(const std::function<void(std::function<void()>)>& quiesce,
                         storage::node::registry_node& node, std::function<void()> drained) {
    x_is_closed.store(true, std::memory_order_release);
    quiesce([&node, drained = std::move(drained)] { node.drain(drained); });
}

std::shared_ptr<build_safety> serving_gate::safety_of(schemas::build_id build) {
    const runtime::lock_guard lock(x_mutex);
    auto known = x_known.find(build);
    if (known != x_known.end())
        if (auto safety = known->second.lock()) return safety;
    std::erase_if(x_known, [](const auto& each) { return each.second.expired(); });
    auto safety = std::make_shared<build_safety>();
    x_known[build] = safety;
    return safety;
}

void serving_gate::set_unsafe(schemas::build_id build, schemas::scan_id by) {
    const runtime::lock_guard lock(x_mutex);
    const auto known = x_known.find(build);
    if (known == x_known.end()) return;
    if (const auto safety = known->second.lock()) safety->set_unsafe(by);
}

}  // namespace herald::api::serving
