#include "api/serving/engines/onnx/counted_memory.hpp"

#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "api/serving/engines/onnx/limits.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HERALD_KEEPS_MALLOC
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define HERALD_KEEPS_MALLOC
#endif

namespace herald::api::serving::engines::onnx {
namespace {

/// Read by every malloc of the program, from its very beginning: a place that needs no call to be found.
[[gnu::tls_model("initial-exec")]] constinit thread_local counted_memory* counting = nullptr;

std::uint64_t rounded_up(std::uint64_t bytes) {
    return (bytes + limits::onnx_memory_step_bytes - 1) / limits::onnx_memory_step_bytes *
           limits::onnx_memory_step_bytes;
}

}  // namespace

counted_memory::~counted_memory() {
    const std::uint64_t taken = bytes_of_pools() - x_kept;
    for (byte_pool* const each : x_bounds.pools)
        if (each && taken != 0) each->give_back(taken);
}

bool counted_memory::is_counting() noexcept {
#ifdef HERALD_KEEPS_MALLOC
    return false;
#else
    return true;
#endif
}

void counted_memory::begin() noexcept { counting = this; }
void counted_memory::end() noexcept { counting = nullptr; }

counted_memory::loss counted_memory::lose() noexcept {
    counted_memory* const mine = std::exchange(counting, nullptr);
    if (!mine) return {};
    const loss out{mine->x_bounds.lost && mine->x_bounds.lost->take(mine->bytes()), mine->bytes(),
                   mine->x_lack};
    for (byte_pool* const each : mine->x_bounds.pools)
        if (each) each->give_back(mine->bytes_of_pools());
    mine->x_granted = mine->x_bounds.bytes_at_once;
    return out;
}

std::uint64_t counted_memory::keep() noexcept {
    const std::uint64_t used = bytes();
    x_kept = used <= x_bounds.bytes_at_once ? 0 : std::min(bytes_of_pools(), used - x_bounds.bytes_at_once);
    return x_kept;
}

bool counted_memory::may_allocate(std::size_t more) noexcept {
    std::uint64_t wanted = 0;
    if (__builtin_add_overflow(bytes(), more, &wanted)) wanted = UINT64_MAX;
    if (wanted <= x_granted && wanted <= x_bounds.bytes_max) return true;
    if (wanted > x_bounds.bytes_max)
        note(lack::of_its_own);
    else if (grow(wanted))
        return true;
    else
        note(lack::of_a_pool);
    if (more >= limits::onnx_large_allocation_bytes_min) return false;
    if (wanted <= std::min(x_granted, x_bounds.bytes_max) + x_reserve) return true;
    // What tells of it, from the next moment on, must have room.
    x_reserve =
        std::min(x_reserve + limits::onnx_lack_reserve_bytes / 4, 2 * limits::onnx_lack_reserve_bytes);
    return false;
}

bool counted_memory::grow(std::uint64_t wanted) noexcept {
    const std::uint64_t missing = wanted - x_granted;
    for (const std::uint64_t bytes : {rounded_up(missing), missing}) {
        std::size_t place = 0;
        for (; place < x_bounds.pools.size(); ++place)
            if (x_bounds.pools[place] && !x_bounds.pools[place]->take(bytes)) break;
        if (place == x_bounds.pools.size()) {
            x_granted += bytes;
            return true;
        }
        while (place-- > 0)
            if (x_bounds.pools[place]) x_bounds.pools[place]->give_back(bytes);
    }
    return false;
}

void counted_memory::note(lack why) noexcept {
    if (x_lack != lack::none) return;
    x_lack = why;
    x_reserve = limits::onnx_lack_reserve_bytes;
    if (x_bounds.lacks) x_bounds.lacks(x_bounds.of);
}

}  // namespace herald::api::serving::engines::onnx

// ---- malloc, for the whole program

#ifndef HERALD_KEEPS_MALLOC
// glibc's own names for its functions cannot be chosen.
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,cppcoreguidelines-no-malloc)
extern "C" {

void* __libc_malloc(std::size_t) noexcept;
void* __libc_calloc(std::size_t, std::size_t) noexcept;
void* __libc_realloc(void*, std::size_t) noexcept;
void* __libc_memalign(std::size_t, std::size_t) noexcept;
void __libc_free(void*) noexcept;

namespace counted = herald::api::serving::engines::onnx;

static void* none_left() noexcept {
    errno = ENOMEM;
    return nullptr;
}

/// The first bytes are as they should be; what is behind is not.
static void* noted(counted::counted_memory& by, void* made, std::size_t good_bytes) noexcept {
    if (!made) return nullptr;
    const std::size_t bytes = ::malloc_usable_size(made);
    by.allocated(bytes);
    if (bytes > good_bytes) std::memset(static_cast<char*>(made) + good_bytes, 0, bytes - good_bytes);
    return made;
}

void* malloc(std::size_t bytes) noexcept {
    auto* const by = counted::counting;
    if (!by) [[likely]]
        return __libc_malloc(bytes);
    if (!by->may_allocate(bytes)) return none_left();
    // glibc's calloc leaves alone what the kernel has just given, but takes longer for little.
    if (bytes >= herald::limits::onnx_zeroed_by_glibc_bytes_min)
        return noted(*by, __libc_calloc(1, bytes), SIZE_MAX);
    return noted(*by, __libc_malloc(bytes), 0);
}

void* calloc(std::size_t count, std::size_t each) noexcept {
    auto* const by = counted::counting;
    if (!by) [[likely]]
        return __libc_calloc(count, each);
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, each, &bytes) || !by->may_allocate(bytes)) return none_left();
    return noted(*by, __libc_calloc(count, each), SIZE_MAX);
}

void* realloc(void* old, std::size_t bytes) noexcept {
    auto* const by = counted::counting;
    if (!by) [[likely]]
        return __libc_realloc(old, bytes);
    const std::size_t before = old ? ::malloc_usable_size(old) : 0;
    // It may need room for both.
    if (bytes > before && !by->may_allocate(bytes)) return none_left();
    void* const made = __libc_realloc(old, bytes);
    if (made || bytes == 0) by->freed(before);
    return noted(*by, made, before);
}

void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
    auto* const by = counted::counting;
    if (!by) [[likely]]
        return __libc_memalign(alignment, bytes);
    return by->may_allocate(bytes) ? noted(*by, __libc_memalign(alignment, bytes), 0) : none_left();
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept { return memalign(alignment, bytes); }

int posix_memalign(void** into, std::size_t alignment, std::size_t bytes) noexcept {
    if (alignment % sizeof(void*) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
    const int before = errno;
    void* const made = memalign(alignment, bytes);
    errno = before;
    if (!made) return ENOMEM;
    *into = made;
    return 0;
}

void free(void* old) noexcept {
    if (auto* const by = counted::counting; by && old) [[unlikely]]
        by->freed(::malloc_usable_size(old));
    __libc_free(old);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,cppcoreguidelines-no-malloc)
#endif
