// Bytes of memory that many may take together.
#pragma once

#include <atomic>
#include <cstdint>

namespace herald::api::serving::engines {

/// Thread-safe. Takes no mutex and allocates nothing, so that an allocator may ask it.
class byte_pool {
  public:
    explicit byte_pool(std::uint64_t bytes_max) : x_bytes_max(bytes_max) {}

    /// False, and nothing is taken, when that would be more than there may be.
    bool take(std::uint64_t bytes) noexcept {
        std::uint64_t before = x_taken.load(std::memory_order_relaxed);
        do {
            if (bytes > x_bytes_max || before > x_bytes_max - bytes) return false;
        } while (!x_taken.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
        return true;
    }
    void give_back(std::uint64_t bytes) noexcept { x_taken.fetch_sub(bytes, std::memory_order_relaxed); }

    std::uint64_t taken() const noexcept { return x_taken.load(std::memory_order_relaxed); }
    std::uint64_t bytes_max() const noexcept { return x_bytes_max; }

  private:
    const std::uint64_t x_bytes_max;
    std::atomic<std::uint64_t> x_taken{0};
};

}  // namespace herald::api::serving::engines
