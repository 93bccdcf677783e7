#include "runtime/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace herald::runtime {

void assertion_failed(const char* expression, const char* file, int line) noexcept {
    std::fprintf(stderr, "herald: broken invariant: %s (%s:%d)\n", expression, file, line);
    std::abort();
}

}  // namespace herald::runtime
