#include "tests/simulation/player.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "runtime/log.hpp"

namespace herald::test {
namespace {

constexpr std::string_view usage =
    "--seed N | --seeds A..B [--long A..B] [--mutation NAME [--known N]] [--log]\n"
    "--list\n"
    "With HERALD_TEST_LONG=1, --long has the seeds.\n"
    "Plays the runs of these seeds. With a mutation, one of them must find the rule broken; the known one is "
    "played first.\n";

struct arguments {
    std::uint64_t first = 1;
    std::uint64_t last = 1;
    std::optional<std::uint64_t> known;
    std::string mutation;
    bool list = false;
    bool log = false;
};

std::uint64_t number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (wrong != std::errc() || end != text.data() + text.size())
        throw std::invalid_argument("\"" + std::string(text) + "\" is not a number");
    return value;
}

arguments parse(const player& of, int count, char** values) {
    arguments all;
    for (int index = 1; index < count; ++index) {
        const std::string_view name = values[index];
        if (name == "--list") {
            all.list = true;
            continue;
        }
        if (name == "--log") {
            all.log = true;
            continue;
        }
        if (index + 1 == count) throw std::invalid_argument(std::string(name) + " needs a value");
        const std::string_view value = values[++index];
        if (name == "--seed") {
            all.first = all.last = number(value);
        } else if (name == "--seeds" || name == "--long") {
            if (name == "--long" && std::getenv("HERALD_TEST_LONG") == nullptr) continue;
            const auto dots = value.find("..");
            if (dots == std::string_view::npos)
                throw std::invalid_argument(std::string(name) + " wants A..B");
            all.first = number(value.substr(0, dots));
            all.last = number(value.substr(dots + 2));
        } else if (name == "--known") {
            all.known = number(value);
        } else if (name == "--mutation") {
            all.mutation = value;
        } else {
            throw std::invalid_argument("unknown option " + std::string(name));
        }
    }
    if (all.known && all.mutation.empty()) throw std::invalid_argument("--known needs a mutation");
    if (std::ranges::find(of.mutations, all.mutation,
                          &std::pair<std::string_view, std::string_view>::first) == of.mutations.end())
        throw std::invalid_argument("there is no mutation " + all.mutation);
    return all;
}

/// Whether an invariant was violated.
bool play_seed(const player& of, const arguments& wanted, std::uint64_t seed, std::string_view program) {
    const auto broken = of.simulate(seed, wanted.mutation);
    if (!broken) return false;
    std::cout << "seed " << seed << ": " << *broken << "\nrepeat with: " << program << " --seed " << seed;
    if (!wanted.mutation.empty()) std::cout << " --mutation " << wanted.mutation;
    std::cout << std::endl;
    return true;
}

int play(const player& of, const arguments& wanted, std::string_view program) {
    const bool one_seed = wanted.first == wanted.last;
    if (wanted.known && play_seed(of, wanted, *wanted.known, program)) return 0;
    for (std::uint64_t seed = wanted.first; seed <= wanted.last; ++seed)
        if (play_seed(of, wanted, seed, program)) return wanted.mutation.empty() || one_seed ? 1 : 0;
    std::cout << "seeds " << wanted.first << ".." << wanted.last << ": every invariant held" << std::endl;
    if (wanted.mutation.empty() || one_seed) return 0;
    std::cout << "but the mutation " << wanted.mutation << " should have broken one" << std::endl;
    return 1;
}

}  // namespace

int play(const player& of, int count, char** values) {
    try {
        const arguments wanted = parse(of, count, values);
        if (!wanted.log) runtime::set_log_level(runtime::log_level::error);
        if (!wanted.list) return play(of, wanted, values[0]);
        for (const auto& [name, what] : of.mutations) std::cout << name << "\t" << what << "\n";
        return 0;
    } catch (const std::invalid_argument& wrong) {
        std::cerr << wrong.what() << "\n" << values[0] << " " << usage;
        return 2;
    }
}

}  // namespace herald::test
