#include "storage/registry/context/rule_context.hpp"

#include <algorithm>

#include "runtime/crypto.hpp"
#include "schemas/binary.hpp"
#include "storage/registry/tables/counters.hpp"

namespace herald::storage::registry::context {

using tables::counters;

std::int64_t rule_context::stamp_ms() {
    const std::uint64_t stamp =
        std::max(static_cast<std::uint64_t>(time_ms()), counters::value(state, "stamp") + 1);
    counters::put(state, "stamp", stamp);
    return static_cast<std::int64_t>(stamp);
}

std::uint64_t rule_context::next(std::string_view counter) {
    const std::uint64_t number = counters::value(state, counter) + 1;
    counters::put(state, counter, number);
    return number;
}

schemas::event_id rule_context::new_event_id() {
    std::uint32_t& events = x_place.events_told ? *x_place.events_told : x_events;
    std::string source(runtime::as_bytes(x_place.log_id));
    schemas::append_big_endian(source, x_place.generation);
    schemas::append_big_endian(source, x_place.offset);
    schemas::append_big_endian(source, ++events);
    const std::string hash = runtime::to_hex(runtime::as_bytes(runtime::sha256(source)).substr(0, 16));
    return std::to_string(x_place.generation) + "-" + hash;
}

void rule_context::set_timer(std::int64_t due_ms, timer_kind kind, std::string_view key) {
    tables::timers::set(state, {due_ms, kind, std::string(key)});
}

void rule_context::cancel_timer(std::int64_t due_ms, timer_kind kind, std::string_view key) {
    tables::timers::erase(state, {due_ms, kind, std::string(key)});
}

}  // namespace herald::storage::registry::context
