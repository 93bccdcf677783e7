// Assertions that stay enabled in release: a broken invariant stops the process before it spreads.
#pragma once

namespace herald::runtime {
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line) noexcept;
}

#define HERALD_ASSERT(expression) \
    ((expression) ? void() : ::herald::runtime::assertion_failed(#expression, __FILE__, __LINE__))
