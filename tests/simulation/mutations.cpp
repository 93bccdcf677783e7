#include "tests/simulation/mutations.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "tests/simulation/forwarding.hpp"
#include "tests/simulation/simulation.hpp"

namespace herald::simulation {
namespace {

std::unique_ptr<events::log> same_log(events::log& log) { return std::make_unique<forwarding_log>(log); }
std::unique_ptr<storage::state_store> same_store(storage::state_store& store) {
    return std::make_unique<forwarding_store>(store);
}

}  // namespace

const std::vector<mutation>& all_mutations() {
    static const std::vector<mutation> all{
        {"", "nothing is broken", same_log, same_store, same_log},
    };
    return all;
}

const mutation& mutation_named(std::string_view name) {
    const auto found = std::ranges::find(all_mutations(), name, &mutation::name);
    if (found == all_mutations().end())
        throw std::invalid_argument("there is no mutation " + std::string(name));
    return *found;
}

}  // namespace herald::simulation
