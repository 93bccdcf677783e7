// herald_simulation: plays runs by seed and reports which invariant was violated.
#include "tests/simulation/mutations.hpp"
#include "tests/simulation/player.hpp"
#include "tests/simulation/simulation.hpp"

int main(int count, char** values) {
    herald::test::player all{herald::test::simulate, {}};
    for (const auto& mutation : herald::test::all_mutations())
        all.mutations.emplace_back(mutation.name, mutation.what);
    return herald::test::play(all, count, values);
}
