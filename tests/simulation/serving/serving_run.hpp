// One run: nodes that answer predictions under everything that can go wrong, builds that are deployed,
// replaced and reported unsafe, and invariant 8 at each first byte that goes out.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "storage/registry/find/serving_nodes.hpp"
#include "tests/simulation/serving/serving_node.hpp"

namespace herald::test::serving {

/// As player::simulate.
std::optional<std::string> simulate(std::uint64_t seed, std::string_view mutation);
/// As player::mutations.
std::vector<std::pair<std::string_view, std::string_view>> mutations();

/// A build that somebody reports unsafe. The answer says which nodes may still serve it, and until when;
/// asking for the scan later says which of them are left.
struct report {
    schemas::build_id build;
    serving_node& asked;
    std::uint64_t offset = 0;
    std::optional<std::int64_t> first_look_ms{};  // whether somebody is awaited,
    bool is_anybody_awaited = true;               // and what it saw when it looked last
    std::optional<std::int64_t> answered_ms{};
    std::map<std::string, std::int64_t> serves_until_ms{};  // by node, log time
};

class run {
  public:
    run(std::uint64_t seed, const broken_rules&);
    void play();
    std::size_t sent() const { return x_sent; }

  private:
    using view = std::shared_ptr<const storage::registry::state::state_view>;
    using unconfirmed = std::vector<storage::registry::find::unconfirmed_node>;
    struct endpoint {
        schemas::uuid id{};
        std::string path;
        schemas::endpoint_stage_id stage;
    };

    void found_installation();
    void start_nodes();
    serving_node& start_node(const std::string& name);
    void make_builds();
    void make_endpoints();
    /// Asks until it is done.
    template <class Command>
    schemas::commands::outcome done(const Command&);
    /// Asks a node, whatever comes of it.
    template <class Command>
    void ask(
        const Command&, reply_handler = [](const auto&) {});
    serving_node* any_that_serves();
    void run_for(std::int64_t ms);
    /// Predictions and everything that goes wrong, for this long.
    void trouble(std::int64_t ms);
    void disturb();
    void replace(serving_node&);
    void end_later(serving_node&);
    void restart(serving_node&);
    void make_peace();
    void check_quick_answer();

    schemas::commands::update_endpoint_stage update_to(schemas::build_id, const endpoint&);
    void delete_endpoint();
    /// Null when no node serves.
    report* report_unsafe(schemas::build_id);
    bool is_answered(schemas::build_id) const;
    /// What the handler of a report does once its node has applied it.
    void wait_until_confirmed(report&);
    void look(report&, const view&);
    /// Whether it has waited for as long as it may.
    bool is_late(const report&) const;
    void answer(report&);
    void look_at_scan(report&);
    unconfirmed unconfirmed_at(std::uint64_t offset, const view&, row_change) const;
    /// Invariant 8.
    void check_byte(const std::string& node, schemas::build_id);

    world x_world;
    const broken_rules& x_broken;
    storage::node::node_kind x_kind = storage::node::node_kind::cluster;
    process_thread& x_setup;
    events::log::memory::memory_broker x_broker;
    std::unique_ptr<events::log::memory::memory_log> x_log;
    std::vector<std::unique_ptr<serving_node>> x_nodes;
    std::set<const serving_node*> x_replaced;  // by another process of the same name
    std::vector<schemas::build_id> x_builds;
    std::vector<endpoint> x_endpoints;
    std::vector<std::unique_ptr<report>> x_reports;
    std::size_t x_sent = 0;
};

}  // namespace herald::test::serving
