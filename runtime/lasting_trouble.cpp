#include "runtime/lasting_trouble.hpp"

#include <utility>

#include "runtime/log_line.hpp"
#include "runtime/text.hpp"

namespace herald::runtime {

lasting_trouble::lasting_trouble(subject what, const clock& time, writer to)
    : x_what(std::move(what)),
      x_time(time),
      x_to(to ? std::move(to)
              : [](log_level level, std::string_view event, std::span<const log_field> fields) {
                    log_line(level, event, fields);
                }) {}

void lasting_trouble::fails(std::string_view reason, std::string_view part) {
    const lock_guard lock(x_mutex);
    const std::int64_t now_ms = x_time.steady_ms();
    if (!x_is_failing) {
        x_since_ms = now_ms;
        x_is_told = false;
        x_is_failing = true;
    }
    if (x_failing.size() < parts_kept) x_failing.emplace(part);
    const bool is_due =
        x_is_told ? now_ms - x_line_ms >= line_interval_ms : now_ms - x_began_ms >= beginning_interval_ms;
    if (!is_due) return;
    if (!std::exchange(x_is_told, true)) x_began_ms = now_ms;
    write(x_what.level, x_what.event, part, reason);
}

void lasting_trouble::works(std::string_view part) noexcept {
    if (!x_is_failing) return;
    const lock_guard lock(x_mutex);
    const auto found = x_failing.find(part);
    if (found == x_failing.end()) return;
    x_failing.erase(found);
    if (!x_failing.empty()) return;
    x_is_failing = false;
    if (x_is_told) write(log_level::info, x_what.over, {}, {});
}

void lasting_trouble::forget() {
    const lock_guard lock(x_mutex);
    x_failing.clear();
    x_is_failing = false;
}

void lasting_trouble::write(log_level level, std::string_view event, std::string_view part,
                            std::string_view reason) {
    const std::int64_t now_ms = x_time.steady_ms();
    const std::int64_t lasts_ms = now_ms - x_since_ms;
    const std::string since = iso8601_ms(x_time.wall_ms() - lasts_ms);
    std::vector<log_field> fields;
    for (const field& each : x_what.fields) fields.push_back({each.name, std::string_view(each.value)});
    if (!x_what.part.empty() && !part.empty()) fields.push_back({x_what.part, part});
    if (!reason.empty()) fields.push_back({"reason", reason});
    fields.push_back({"since", std::string_view(since)});
    fields.push_back({"seconds", (lasts_ms + 500) / 1'000});
    x_line_ms = now_ms;
    x_to(level, event, fields);
}

}  // namespace herald::runtime
