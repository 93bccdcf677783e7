#include "storage/registry/context/rule_context.hpp"

#include "runtime/assert.hpp"
#include "runtime/crypto.hpp"

namespace herald::storage::registry::context {
namespace {

using tables::find_number;
using tables::key_of;
using tables::put_number;
using tables::table;

constexpr std::string_view stamp_counter = "stamp";

std::string timer_key(std::int64_t due_ms, timer_kind kind, std::string_view key) {
    HERALD_ASSERT(due_ms >= 0 && key.size() <= 64);
    return key_of(table::timer)
        .number(static_cast<std::uint64_t>(due_ms))
        .text(std::string(1, static_cast<char>(kind)))
        .text(key);
}

}  // namespace

std::int64_t rule_context::stamp_ms() {
    const std::string key = key_of(table::counter).text(stamp_counter);
    const std::uint64_t last = find_number(state, key).value_or(0);
    const std::uint64_t stamp = std::max(static_cast<std::uint64_t>(time_ms()), last + 1);
    put_number(state, key, stamp);
    return static_cast<std::int64_t>(stamp);
}

std::uint64_t rule_context::next(std::string_view counter) {
    const std::string key = key_of(table::counter).text(counter);
    const std::uint64_t number = find_number(state, key).value_or(0) + 1;
    put_number(state, key, number);
    return number;
}

schemas::event_id rule_context::new_event_id() {
    std::string source(reinterpret_cast<const char*>(x_place.log_id.data()), x_place.log_id.size());
    schemas::append_big_endian(source, x_place.generation);
    schemas::append_big_endian(source, x_place.offset);
    schemas::append_big_endian(source, ++x_events);
    const std::string hash = runtime::to_hex(runtime::as_bytes(runtime::sha256(source)).substr(0, 16));
    return std::to_string(x_place.generation) + "-" + hash;
}

void rule_context::set_timer(std::int64_t due_ms, timer_kind kind, std::string_view key) {
    state.put(timer_key(due_ms, kind, key), "");
}

void rule_context::cancel_timer(std::int64_t due_ms, timer_kind kind, std::string_view key) {
    state.erase(timer_key(due_ms, kind, key));
}

}  // namespace herald::storage::registry::context
