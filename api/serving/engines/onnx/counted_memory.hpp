// What ONNX Runtime allocates for one run or one load is counted while it does so, and bounded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "api/serving/engines/byte_pool.hpp"

namespace herald::api::serving::engines::onnx {

/// Counts what one thread allocates between begin() and end(), by whichever library: operators allocate their
/// outputs by the runtime's allocator, but much else by vectors and texts. So malloc itself is replaced, as
/// glibc's manual describes ("Replacing malloc"); it asks glibc's own for the memory. An allocation that
/// would be beyond a bound fails there as it would on a machine that has no more: the runtime gives up the
/// operator and says which.
///
/// All of it is zero: no operator gives a caller what another run, or anything else in this process, left
/// there, not even one that does not write all of its output.
///
/// Not beyond: small allocations of little memory in total (limits::onnx_lack_reserve_bytes), of which code
/// does not expect that they fail.
///
/// Belongs to one thread from begin() to end(). What was taken of the pools is given back when it is
/// destroyed: not before what was allocated is freed.
class counted_memory {
  public:
    struct bounds {
        std::uint64_t bytes_max = UINT64_MAX;
        std::uint64_t bytes_at_once = 0;          // so many are taken without asking the pools
        std::array<byte_pool*, 2> pools{};        // each must outlive it; may be null
        void (*lacks)(void*) noexcept = nullptr;  // called once, when it lacks memory; must not allocate
        void* of = nullptr;                       // its argument
        byte_pool* lost = nullptr;                // of lose(), which it outlives; null: without room
    };
    enum class lack : std::uint8_t { none, of_its_own, of_a_pool };
    struct loss {
        bool has_room = false;  // in bounds::lost
        std::uint64_t bytes = 0;
        lack lacked = lack::none;
    };

    explicit counted_memory(const bounds& chosen) noexcept
        : x_bounds(chosen), x_granted(chosen.bytes_at_once) {}
    ~counted_memory();
    counted_memory(const counted_memory&) = delete;
    counted_memory& operator=(const counted_memory&) = delete;

    /// Whether this program counts: not with a sanitizer, which has an own malloc.
    static bool is_counting() noexcept;
    void begin() noexcept;
    static void end() noexcept;
    /// Instead of end(), on a thread that never goes on: the pools get back what was taken of them, and what
    /// is still there is taken of bounds::lost for good.
    static loss lose() noexcept;
    /// Whether an allocation failed, or was only let through because it was small.
    lack lacked() const noexcept { return x_lack; }
    /// What is still there of all that was allocated.
    std::uint64_t bytes() const noexcept { return x_used > 0 ? static_cast<std::uint64_t>(x_used) : 0; }
    /// What it has taken of the pools now.
    std::uint64_t bytes_of_pools() const noexcept { return x_granted - x_bounds.bytes_at_once; }
    /// How many bytes, beyond those at once, stay taken from the pools after this is destroyed. The caller
    /// gives them back.
    std::uint64_t keep() noexcept;

    // For malloc:
    bool may_allocate(std::size_t more) noexcept;
    void allocated(std::size_t bytes) noexcept { x_used += static_cast<std::int64_t>(bytes); }
    void freed(std::size_t bytes) noexcept { x_used -= static_cast<std::int64_t>(bytes); }

  private:
    bool grow(std::uint64_t wanted) noexcept;
    void note(lack why) noexcept;

    const bounds x_bounds;
    std::uint64_t x_granted;
    std::uint64_t x_kept = 0;
    std::uint64_t x_reserve = 0;  // beyond the bounds, for small ones
    std::int64_t x_used = 0;      // below zero: it freed what was there before
    lack x_lack = lack::none;
};

}  // namespace herald::api::serving::engines::onnx
