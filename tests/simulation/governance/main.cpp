// herald_governance --depth N [--long N] [--mutation NAME] | --list
//
// Follows every sequence of up to N steps; with HERALD_TEST_LONG=1, --long has the number. Without a mutation
// every invariant must hold; with one, a rule is broken on purpose, and some sequence must show it. A failure
// prints the steps.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_set>

#include "tests/simulation/governance/reference.hpp"

namespace herald::test::governance {
namespace {

using storage::registry::state::state_changes;

/// The steps so far, each by its number among the moves of its state.
using path = std::vector<std::uint16_t>;

class explorer {
  public:
    explorer(const mutation* broken, std::uint32_t depth_max) : x_world(broken), x_depth_max(depth_max) {}

    /// Throws invariant_broken, with the steps that led there.
    void explore() {
        std::vector<path> border{{}};
        for (std::uint32_t depth = 0; depth < x_depth_max && !border.empty(); ++depth) {
            std::vector<path> next;
            for (const path& steps : border) expand(steps, depth + 1 < x_depth_max ? &next : nullptr);
            std::printf("sequences of %u: %zu states, %zu steps tried, %zu of them taken\n", depth + 1,
                        next.size(), x_tried, x_taken);
            std::fflush(stdout);
            border = std::move(next);
        }
    }

  private:
    void expand(const path& steps, std::vector<path>* next) {
        const auto beginning = x_world.beginning();
        state_changes here(beginning.get());
        memory remembered;
        std::string words;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const move step = x_world.moves_in(here).at(steps[i]);
            state_changes after(&here);
            const bool taken = x_world.play(step, static_cast<std::uint32_t>(i), after).has_value();
            remembered.see(step, taken, here, after);
            here.absorb(after.take());
            words += "  " + step.words + "\n";
        }
        const std::vector<move> moves = x_world.moves_in(here);
        for (std::size_t i = 0; i < moves.size(); ++i) {
            state_changes after(&here);
            memory own = remembered;
            ++x_tried;
            try {
                const bool taken =
                    x_world.play(moves[i], static_cast<std::uint32_t>(steps.size()), after).has_value();
                own.see(moves[i], taken, here, after);
                if (!taken) continue;
            } catch (const invariant_broken& broken) {
                throw invariant_broken(std::string(broken.what()) + "\nthe steps before:\n" + words);
            }
            ++x_taken;
            if (!next ||
                !x_seen.insert(std::hash<std::string>{}(x_world.fingerprint(after) + "\n" + own.text()))
                     .second)
                continue;
            next->push_back(steps);
            next->back().push_back(static_cast<std::uint16_t>(i));
        }
    }

    const world x_world;
    const std::uint32_t x_depth_max;
    std::unordered_set<std::size_t> x_seen;
    std::size_t x_tried = 0;
    std::size_t x_taken = 0;
};

int run(const mutation* broken, std::uint32_t depth_max) {
    try {
        explorer(broken, depth_max).explore();
    } catch (const invariant_broken& found) {
        std::printf("%s\n", found.what());
        return broken ? 0 : 1;
    }
    if (!broken) return 0;
    std::printf("not found: %.*s\n", static_cast<int>(broken->name.size()), broken->name.data());
    return 1;
}

}  // namespace
}  // namespace herald::test::governance

int main(int count, char** arguments) {
    using namespace herald::test::governance;
    std::uint32_t depth = 3;
    const mutation* broken = nullptr;
    for (int i = 1; i < count; ++i) {
        const std::string option = arguments[i];
        if (option == "--list") {
            for (const mutation& one : mutations())
                std::printf("%s: %s\n", std::string(one.name).c_str(), std::string(one.breaks).c_str());
            return 0;
        }
        if ((option == "--depth" || option == "--long") && i + 1 < count) {
            const auto wanted = static_cast<std::uint32_t>(std::stoul(arguments[++i]));
            if (option == "--depth" || std::getenv("HERALD_TEST_LONG") != nullptr) depth = wanted;
        } else if (option == "--mutation" && i + 1 < count) {
            for (const mutation& one : mutations())
                if (one.name == arguments[i + 1]) broken = &one;
            if (!broken) return std::printf("no mutation is called %s; see --list\n", arguments[i + 1]), 2;
            ++i;
        } else {
            return std::printf(
                       "usage: herald_governance [--depth N] [--long N] [--mutation NAME] | --list\n"),
                   2;
        }
    }
    return run(broken, depth);
}
