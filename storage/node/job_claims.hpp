// Jobs that only one node of the cluster does at a time (design.md §1 "Jobs are claims").
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/metrics.hpp"
#include "runtime/scheduler.hpp"
#include "storage/node/command_gateway.hpp"
#include "storage/node/node.hpp"
#include "storage/node/replica.hpp"

namespace herald::storage::node {

/// Asks for unheld claims, lets those go whose jobs cannot be done here, and starts and stops jobs as claims
/// come and go. It does no harm if two nodes do a job for a moment: what they send carries the claim's token.
/// Lives on the scheduler's thread.
class job_claims : public std::enable_shared_from_this<job_claims> {
  public:
    job_claims(std::string node, const schemas::uuid& boot, std::shared_ptr<command_gateway> gateway,
               runtime::scheduler& scheduler)
        : x_node(std::move(node)), x_boot(boot), x_gateway(std::move(gateway)), x_scheduler(scheduler) {}

    /// To be called before the first look().
    void add(schemas::job which, std::shared_ptr<claimed_job> work) {
        std::string name = schemas::job_name(which);
        runtime::gauge& held = runtime::metric_gauge(runtime::metrics::claim, {{"name", name}});
        x_jobs.push_back({std::move(name), std::move(work), held, which == schemas::job::publisher});
    }
    /// Acts on the state. Called after claims or nodes changed, and about once a second.
    void look(const applied_state&);
    /// Stops all jobs for good; their claims lapse, unless the node frees them.
    void stop();

  private:
    struct job {
        std::string name;
        std::shared_ptr<claimed_job> work;
        runtime::gauge& held;
        bool is_publisher = false;
        std::uint64_t token = 0;  // of the claim that the job runs under
        bool is_asking = false;
    };

    void look_at(job&, std::size_t index, const applied_state&);
    enum class wish : std::uint8_t { to_hold, to_let_go };
    void ask(job&, std::size_t index, wish);
    static void let_go(job&);

    const std::string x_node;
    const schemas::uuid x_boot;
    const std::shared_ptr<command_gateway> x_gateway;
    runtime::scheduler& x_scheduler;
    std::vector<job> x_jobs;
    bool x_is_stopped = false;
};

}  // namespace herald::storage::node
