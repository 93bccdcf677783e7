// herald_worker_simulation: plays runs of workers that come and go, by seed, and reports what went wrong.
#include "tests/simulation/player.hpp"
#include "tests/simulation/workers/broken_rules.hpp"
#include "tests/simulation/workers/scaling_run.hpp"

int main(int count, char** values) {
    herald::test::player all{herald::test::simulate_scaling, {}};
    for (const auto& broken : herald::test::all_broken_rules())
        all.mutations.emplace_back(broken.name, broken.what);
    return herald::test::play(all, count, values);
}
