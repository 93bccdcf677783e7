// What the log says of a trouble that lasts, as brokers that are away: when it begins, that it lasts, when it
// is over.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/clock.hpp"
#include "runtime/log.hpp"
#include "runtime/mutex.hpp"

namespace herald::runtime {

/// One subject of the log, whoever reports on it and however often: a line when it begins to fail, one a
/// minute while it goes on failing, and one when all of it works again. What fails and works in turn is
/// logged at most every ten seconds. Thread-safe.
class lasting_trouble {
  public:
    static constexpr std::int64_t line_interval_ms = 60'000;       // while it lasts
    static constexpr std::int64_t beginning_interval_ms = 10'000;  // between lines that say that it begins
    static constexpr std::size_t parts_kept = 4'096;               // of those that fail at once

    struct field {
        std::string_view name;
        std::string value;
    };
    /// Fields of the lines beside these: reason (the newest), since, seconds; the last line has no reason.
    struct subject {
        std::string_view event;  // it fails
        std::string_view over;   // it works again
        std::vector<field> fields = {};
        std::string_view part = {};  // the name of the field for the part that failed; empty: there is none
        log_level level = log_level::warning;  // of `event`; `over` is info
    };
    using writer = std::function<void(log_level, std::string_view event, std::span<const log_field>)>;

    explicit lasting_trouble(subject what, const clock& time = system_clock(), writer to = {});

    /// Called for each failure. `part`: which of several things that the subject stands for, as partitions.
    void fails(std::string_view reason, std::string_view part = {});
    /// Called for each success; costs nothing while nothing fails.
    void works(std::string_view part = {}) noexcept;
    /// Nobody tries any more, so nobody knows: no line.
    void forget();

  private:
    void write(log_level, std::string_view event, std::string_view part, std::string_view reason)
        REQUIRES(x_mutex);

    const subject x_what;
    const clock& x_time;
    const writer x_to;
    std::atomic<bool> x_is_failing = false;
    mutex x_mutex;
    std::set<std::string, std::less<>> x_failing GUARDED_BY(x_mutex);  // parts
    std::int64_t x_since_ms GUARDED_BY(x_mutex) = 0;
    std::int64_t x_line_ms GUARDED_BY(x_mutex) = INT64_MIN / 2;  // of the newest line
    std::int64_t x_began_ms GUARDED_BY(x_mutex) = INT64_MIN /
                                                  2;  // of the newest line that said that it began
    bool x_is_told GUARDED_BY(x_mutex) = false;       // of what fails now
};

}  // namespace herald::runtime
