#include "storage/registry/tables/stage_log.hpp"

#include <vector>

#include "runtime/text.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/tables/tables.hpp"

namespace herald::storage::registry::tables {
namespace {

std::string entry_key(schemas::endpoint_stage_id stage, std::uint64_t number) {
    return key_of(table::stage_log).number(stage).number(number);
}

std::string log_prefix(schemas::endpoint_stage_id stage) { return key_of(table::stage_log).number(stage); }

std::uint64_t last_number(const state::state_view& state, const std::string& prefix) {
    std::uint64_t number = 0;
    state.scan_back(prefix, {}, [&](std::string_view key, std::string_view) {
        number = number_in_key(key, 8);
        return false;
    });
    return number;
}

}  // namespace

void stage_log::add(state::state_changes& state, schemas::endpoint_stage_id stage, std::int64_t time_ms,
                    std::string_view message, schemas::user_id author) {
    const std::uint64_t number = last_number(state, log_prefix(stage)) + 1;
    put_row(
        state, entry_key(stage, number),
        schemas::stage_log_entry{stage, number, time_ms,
                                 runtime::shortened(message, limits::stage_log_message_bytes_max), author});
    if (number > limits::stage_log_entries_max)
        state.erase(entry_key(stage, number - limits::stage_log_entries_max));
}

void stage_log::each(const state::state_view& state, schemas::endpoint_stage_id stage, std::uint64_t from,
                     const visitor<schemas::stage_log_entry>& visit) {
    state.scan(log_prefix(stage), entry_key(stage, from), [&](std::string_view key, std::string_view value) {
        return visit(decode_row<schemas::stage_log_entry>(key, value));
    });
}

std::size_t stage_log::erase_oldest(state::state_changes& state, schemas::endpoint_stage_id stage,
                                    std::size_t most) {
    std::vector<std::string> keys;
    if (most == 0) return 0;
    state.scan(log_prefix(stage), {}, [&](std::string_view key, std::string_view) {
        keys.emplace_back(key);
        return keys.size() < most;
    });
    for (std::string& key : keys) state.erase(std::move(key));
    return keys.size();
}

}  // namespace herald::storage::registry::tables
