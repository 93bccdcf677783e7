// Whether this node may answer predictions at all, and from which builds (promise P7, design.md §4).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "runtime/clock.hpp"
#include "runtime/mutex.hpp"
#include "schemas/ids.hpp"
#include "storage/node/node.hpp"

namespace herald::api::serving {

/// Of a build, the same object in every snapshot of routes and in every prediction under way: what becomes
/// unsafe here is unsafe for all of them.
class build_safety {
  public:
    /// The scan that reported it unsafe; 0: none that this node has applied.
    schemas::scan_id unsafe_scan() const noexcept {
        return schemas::scan_id{x_scan.load(std::memory_order_acquire)};
    }
    /// Stays so for ever.
    void set_unsafe(schemas::scan_id by) noexcept { x_scan.store(by.value, std::memory_order_release); }

  private:
    std::atomic<std::uint64_t> x_scan{0};
};

/// A prediction passes it twice: when it is routed, and in the step in which its first byte goes out.
/// Thread-safe, without a lock but for safety_of().
class serving_gate {
  public:
    /// Its steady clock goes on while the machine sleeps and while this process is stopped. Outlives the
    /// gate.
    explicit serving_gate(const runtime::clock& time) : x_time(time) {}

    /// Once; the node must outlive all questions.
    void begin(const storage::node::registry_node& registry) noexcept {
        x_registry.store(&registry, std::memory_order_release);
    }
    /// The end of serving: from now on there is no lease, and the node drains once nothing goes out any more,
    /// not even of what had passed before. After its farewell nobody waits for it or names it (P7).
    /// `quiesce`: as registry_node::options::quiesce.
    void close(const std::function<void(std::function<void()>)>& quiesce, storage::node::registry_node& node,
               std::function<void()> drained);
    /// Whether serving has ended, as after close().
    bool is_closed() const noexcept { return x_is_closed.load(std::memory_order_acquire); }
    /// Whether the log has been heard of recently enough that what this node knows of builds counts.
    bool has_lease() const noexcept {
        const auto* const registry = x_registry.load(std::memory_order_acquire);
        return registry != nullptr && !is_closed() && x_time.steady_ms() < registry->serves_until_ms();
    }
    /// For who makes routes. The same object for a build as long as anybody has it.
    std::shared_ptr<build_safety> safety_of(schemas::build_id);
    /// Also for predictions of a build that are under way although it has no route any more.
    void set_unsafe(schemas::build_id, schemas::scan_id by);

  private:
    const runtime::clock& x_time;
    std::atomic<const storage::node::registry_node*> x_registry = nullptr;
    std::atomic<bool> x_is_closed = false;
    runtime::mutex x_mutex;
    std::map<schemas::build_id, std::weak_ptr<build_safety>> x_known GUARDED_BY(x_mutex);
};

}  // namespace herald::api::serving
