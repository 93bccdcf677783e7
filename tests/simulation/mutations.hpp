// Rules of design.md §2 broken on purpose, each by something that stands between a process and its log or
// state.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "events/log.hpp"
#include "storage/state.hpp"

namespace herald::simulation {

struct mutation {
    std::string_view name;
    std::string_view what;
    std::function<std::unique_ptr<events::log>(events::log&)> wrap_node_log;
    std::function<std::unique_ptr<storage::state_store>(storage::state_store&)> wrap_store;
    std::function<std::unique_ptr<events::log>(events::log&)> wrap_worker_log;
};

/// The first, with an empty name, breaks nothing.
const std::vector<mutation>& all_mutations();
/// Throws std::invalid_argument for a name that is not there.
const mutation& mutation_named(std::string_view name);

}  // namespace herald::simulation
