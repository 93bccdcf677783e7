// herald_serving_simulation: plays runs of nodes that serve, and reports when an unsafe build was served.
#include "tests/simulation/player.hpp"
#include "tests/simulation/serving/serving_run.hpp"

int main(int count, char** values) {
    const herald::test::player all{herald::test::serving::simulate, herald::test::serving::mutations()};
    return herald::test::play(all, count, values);
}
