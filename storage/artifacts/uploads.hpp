// What uploads to any store share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/error.hpp"

namespace herald::storage::artifacts {

// The name of an object: its digest and a random number, both in hex.
constexpr std::size_t digest_digits = 64;
constexpr std::size_t random_bytes_of_name = 8;
constexpr std::size_t random_digits = 2 * random_bytes_of_name;

inline error too_large(std::uint64_t bytes_max) {
    return {error_code::resource_exhausted,
            "the body has more than " + std::to_string(bytes_max) + " bytes, the most that are allowed", 413};
}

/// A place among the uploads of this node, of which `taken` counts those that are taken.
class upload_place {
  public:
    explicit upload_place(std::atomic<std::size_t>& taken) : x_taken(taken) {}
    ~upload_place() {
        if (x_is_mine) --x_taken;
    }
    upload_place(const upload_place&) = delete;
    upload_place& operator=(const upload_place&) = delete;

    /// False when `places_max` are taken; it may be tried again.
    bool take(std::size_t places_max) {
        x_is_mine = ++x_taken <= places_max;
        if (!x_is_mine) --x_taken;
        return x_is_mine;
    }

  private:
    std::atomic<std::size_t>& x_taken;
    bool x_is_mine = false;
};

}  // namespace herald::storage::artifacts
