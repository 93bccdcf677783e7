// One run: nodes that answer predictions under everything that can go wrong, builds that are reported unsafe,
// and invariant 8 at each first byte that goes out.
#pragma once

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

/// A build that somebody reports unsafe. The answer says which nodes may still serve it, and until when.
struct report {
    schemas::build_id build;
    std::optional<std::int64_t> answered_ms;
    std::map<std::string, std::int64_t> serves_until_ms;  // by node, log time
};

class run {
  public:
    run(std::uint64_t seed, const broken_rules&);
    void play();
    std::size_t sent() const { return x_sent; }
    std::size_t answered() const { return x_answered; }

  private:
    void found_installation();
    void start_nodes();
    void make_builds();
    template <class Command>
    schemas::commands::outcome done(const Command&);
    void run_for(std::int64_t ms);
    /// Predictions of all builds and everything that goes wrong, for this long.
    void trouble(std::int64_t ms);
    void disturb();
    void make_peace();

    void report_unsafe(schemas::build_id);
    /// What the handler of a report does once its node has applied it.
    void wait_until_heard(serving_node&, std::size_t report, std::int64_t until_ms);
    void answer(serving_node&, report&, bool is_in_time);
    std::vector<storage::registry::find::unconfirmed_node> unconfirmed(serving_node&, schemas::build_id);
    /// Invariant 8.
    void check_byte(const std::string& node, schemas::build_id);

    world x_world;
    const broken_rules& x_broken;
    storage::node::node_kind x_kind = storage::node::node_kind::cluster;
    process_thread& x_setup;
    events::log::memory::memory_broker x_broker;
    std::unique_ptr<events::log::memory::memory_log> x_log;
    std::vector<std::unique_ptr<serving_node>> x_nodes;
    std::vector<schemas::build_id> x_builds;
    std::vector<std::unique_ptr<report>> x_reports;
    std::size_t x_sent = 0;
    std::size_t x_answered = 0;
};

}  // namespace herald::test::serving
