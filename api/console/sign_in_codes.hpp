// Codes in place of a developer key, for one sign-in each: `herald sign-in-link` gets one, a browser redeems
// it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "runtime/clock.hpp"
#include "runtime/mutex.hpp"
#include "runtime/random.hpp"

namespace herald::api::console {

/// In the memory of one node, which is why only a standalone has it. Thread-safe. At most
/// limits::sign_in_codes_max: a new one takes the place of the oldest.
class sign_in_codes {
  public:
    /// Both outlive it.
    sign_in_codes(runtime::random_source& random, const runtime::clock& clock)
        : x_random(random), x_clock(clock) {}

    /// Whose code it is, and the hash of the developer key that asked for it: its sessions count as made by
    /// it.
    struct holder {
        std::string email;
        std::string credential_hash;
    };
    struct code {
        std::string text;  // 256 bits
        std::int64_t time_expires = 0;
    };
    code make(holder);
    /// Empty for a code that is unknown, was taken, or is older than limits::sign_in_code_ms_max.
    std::optional<holder> take(const std::string& text);

  private:
    struct kept {
        holder whose;
        std::int64_t made_ms = 0;  // by the steady clock
    };
    void drop_old() REQUIRES(x_mutex);

    runtime::random_source& x_random;
    const runtime::clock& x_clock;
    runtime::mutex x_mutex;
    std::map<std::string, kept> x_codes GUARDED_BY(x_mutex);  // by the SHA-256 of the code
};

}  // namespace herald::api::console
