#include "storage/registry/tables/timers.hpp"

#include "runtime/assert.hpp"
#include "storage/registry/tables/tables.hpp"

namespace herald::storage::registry::tables {
namespace {

constexpr std::size_t timer_key_bytes_max = 64;

std::string row_key(const timer& one) {
    HERALD_ASSERT(one.due_ms >= 0 && one.key.size() <= timer_key_bytes_max);
    return key_of(table::timer)
        .number(static_cast<std::uint64_t>(one.due_ms))
        .text(std::string(1, static_cast<char>(one.kind)))
        .text(one.key);
}

std::int64_t due_ms_of(std::string_view key) { return static_cast<std::int64_t>(number_in_key(key)); }

}  // namespace

void timers::set(state::state_changes& state, const timer& one) { state.put(row_key(one), ""); }

void timers::erase(state::state_changes& state, const timer& one) { state.erase(row_key(one)); }

void timers::each(const state::state_view& state, const visitor<timer>& visit) {
    const std::string prefix = key_of(table::timer);
    state.scan(prefix, {}, [&](std::string_view key, std::string_view) {
        if (key.size() < prefix.size() + 9) throw state::state_corrupt{"a timer without a kind"};
        return visit({due_ms_of(key), static_cast<timer_kind>(key[9]), std::string(key.substr(10))});
    });
}

std::optional<std::int64_t> timers::first_due_ms(const state::state_view& state) {
    std::optional<std::int64_t> due_ms;
    each(state, [&](const timer& first) {
        due_ms = first.due_ms;
        return false;
    });
    return due_ms;
}

std::optional<std::int64_t> timers::first_due_ms(const state::row_changes& changes) {
    const std::string prefix = key_of(table::timer);
    for (auto row = changes.lower_bound(prefix); row != changes.end() && row->first.starts_with(prefix);
         ++row)
        if (row->second) return due_ms_of(row->first);
    return std::nullopt;
}

}  // namespace herald::storage::registry::tables
