// What operators learn about deliveries: a log line and metrics for each attempt, and a louder line for
// failures.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "schemas/webhooks.hpp"

namespace herald::workers {

/// Lives on the scheduler's thread. A webhook that fails all the time must not flood those who watch for
/// warnings: at most `lines_max` lines of each kind in `window_ms`; the next line says how many were left
/// out.
class delivery_report {
  public:
    static constexpr std::uint64_t lines_max = 5;
    static constexpr std::int64_t window_ms = 60'000;
    static constexpr std::size_t webhooks_max = 10'000;  // beyond this, all are forgotten

    /// Reports an attempt, or a delivery without one. `name`: of the webhook; empty when not known. `now_ms`:
    /// steady.
    void saw(const schemas::attempt&, const schemas::event&, std::string_view name, std::int64_t now_ms);
    /// Whether a line may be written now, and if so, how many were left out since the last one.
    std::optional<std::uint64_t> may_tell(schemas::webhook_id, schemas::attempt_result, std::int64_t now_ms);

  private:
    struct window {
        std::int64_t since_ms = 0;
        std::uint64_t lines = 0;
        std::uint64_t left_out = 0;
    };
    std::map<std::pair<schemas::webhook_id, schemas::attempt_result>, window> x_told;
};

}  // namespace herald::workers
