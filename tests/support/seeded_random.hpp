// Random bytes that are the same for the same seed, on every machine. For one thread.
#pragma once

#include <random>

#include "runtime/random.hpp"

namespace herald::test {

class seeded_random final : public runtime::random_source {
  public:
    explicit seeded_random(std::uint64_t seed) : x_engine(seed) {}

    void fill(void* out, std::size_t bytes) noexcept override {
        auto* target = static_cast<std::uint8_t*>(out);
        while (bytes > 0) {
            std::uint64_t value = x_engine();
            for (std::size_t i = 0; i < sizeof value && bytes > 0; ++i, --bytes, value >>= 8)
                *target++ = static_cast<std::uint8_t>(value);
        }
    }

  private:
    std::mt19937_64 x_engine;
};

}  // namespace herald::test
