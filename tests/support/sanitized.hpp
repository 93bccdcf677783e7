// Whether a sanitizer, which makes the program several times slower, was compiled in.
#pragma once

namespace herald::test {

#if defined(__has_feature)
inline constexpr bool is_sanitized = __has_feature(thread_sanitizer) || __has_feature(address_sanitizer);
#else
inline constexpr bool is_sanitized = false;
#endif

}  // namespace herald::test
