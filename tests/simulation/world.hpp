// What all parts of a run share: chance, time, and what the nodes have agreed on.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "schemas/binary.hpp"
#include "tests/simulation/virtual_time.hpp"
#include "tests/support/seeded_random.hpp"

namespace herald::test {

/// Thrown when an invariant of the design is violated. `what` is a sentence.
struct rule_broken {
    std::string what;
};

template <class T>
T decoded(const std::string& bytes) {
    auto value = schemas::decode<T>(bytes);
    if (!value) throw rule_broken{"an answer does not decode"};
    return *std::move(value);
}

/// Chance, all derived from the seed.
class dice {
  public:
    explicit dice(std::uint64_t seed) : x_random(seed) {}
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(x_random.below(static_cast<std::uint64_t>(high - low + 1)));
    }
    bool one_in(std::uint64_t n) { return x_random.below(n) == 0; }
    template <class T>
    T& pick(std::vector<T>& from) {
        return from[x_random.below(from.size())];
    }
    test::seeded_random& source() { return x_random; }

  private:
    test::seeded_random x_random;
};

/// The hash of the state after each record, from the first node to apply it: every other node must have the
/// same (P5).
class agreement {
  public:
    void note(const std::string& node, std::uint64_t offset, const std::string& hash) {
        if (x_has_ended) return;
        if (x_hashes.try_emplace(offset, hash).first->second != hash)
            throw rule_broken{node + " has another state after offset " + std::to_string(offset) +
                              " than the node that was there first (invariant 7)"};
    }
    const std::map<std::uint64_t, std::string>& hashes() const { return x_hashes; }
    /// From here on this is no longer the log that they agreed on.
    void end() { x_has_ended = true; }

  private:
    std::map<std::uint64_t, std::string> x_hashes;
    bool x_has_ended = false;
};

struct world {
    explicit world(std::uint64_t seed) : chance(seed), time(chance.source()) {}
    dice chance;
    virtual_time time;
    agreement agreed;
};

}  // namespace herald::test
