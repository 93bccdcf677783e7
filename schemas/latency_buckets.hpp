// Fixed log-linear buckets for latencies in µs: eight to each doubling, so that a bucket's upper bound is at
// most an eighth (its middle at most 6 %) off. The same on every node, since counts are summed in apply.
#pragma once

#include <bit>
#include <cstdint>

namespace herald::schemas {

/// 2^31 µs is beyond any deadline.
constexpr std::uint32_t latency_buckets = 8 + 28 * 8;

/// Latencies below 8 µs have a bucket each.
constexpr std::uint32_t latency_bucket_of(std::uint64_t us) noexcept {
    if (us < 8) return static_cast<std::uint32_t>(us);
    const auto doubling = static_cast<std::uint32_t>(std::bit_width(us) - 4);  // 8..15 → 0
    const std::uint32_t bucket = 8 + doubling * 8 + static_cast<std::uint32_t>((us >> doubling) & 7);
    return bucket < latency_buckets ? bucket : latency_buckets - 1;
}

/// The lowest latency of the bucket.
constexpr std::uint64_t latency_bucket_begin(std::uint32_t bucket) noexcept {
    if (bucket < 8) return bucket;
    const std::uint32_t doubling = (bucket - 8) / 8;
    return static_cast<std::uint64_t>(8 + (bucket - 8) % 8) << doubling;
}

/// The latency that stands for a bucket: its middle.
constexpr std::uint64_t latency_of_bucket(std::uint32_t bucket) noexcept {
    const std::uint64_t begin = latency_bucket_begin(bucket);
    return bucket < 8 ? begin : begin + ((latency_bucket_begin(bucket + 1) - begin) / 2);
}

static_assert(latency_bucket_of(7) == 7 && latency_bucket_of(8) == 8 && latency_bucket_of(15) == 15 &&
              latency_bucket_of(16) == 16 && latency_bucket_of(17) == 16 && latency_bucket_of(18) == 17);
static_assert(latency_bucket_begin(latency_bucket_of(1'000)) <= 1'000 &&
              latency_bucket_begin(latency_bucket_of(1'000) + 1) > 1'000);

}  // namespace herald::schemas
