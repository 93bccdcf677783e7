#include "storage/registry/tables/lists.hpp"

#include <algorithm>

#include "storage/registry/tables/tables.hpp"

namespace herald::storage::registry::tables {
namespace {

constexpr std::size_t place_bytes = 16;

/// Frozen, as the letters of tables are.
enum class list_kind : char { all = 'a', of_model = 'm', label = 'l', stage = 's', owner = 'o', run = 'r' };

key_of key_in(table rows, list_kind kind, std::uint64_t scope) {
    return key_of(rows).text(std::string(1, static_cast<char>(kind))).number(scope);
}

std::string key_in(const row_list& list, const listed& place) {
    std::string key = list.key();
    schemas::append_big_endian(key, ~static_cast<std::uint64_t>(place.time_updated));
    schemas::append_big_endian(key, ~place.id);
    return key;
}

std::string count_key(const row_list& list) { return key_of(table::list_count).text(list.key()); }

listed place_in(std::string_view key, std::string_view value) {
    if (key.size() < place_bytes) throw state::state_corrupt{"an entry of a list without a place"};
    listed place;
    place.time_updated =
        static_cast<std::int64_t>(~schemas::read_big_endian(key.substr(key.size() - place_bytes, 8)));
    place.id = ~schemas::read_big_endian(key.substr(key.size() - 8));
    if (!value.empty()) place.model = read_number(key, value);
    return place;
}

std::string value_of(const listed& place) {
    std::string value;
    if (place.model != 0) schemas::append_varint(value, place.model);
    return value;
}

void put_counted(state::state_changes& state, const row_list& list, std::uint64_t count) {
    if (count == 0)
        state.erase(count_key(list));
    else
        put_number(state, count_key(list), count);
}

bool has(const std::vector<row_list>& sorted, const row_list& list) {
    return std::binary_search(sorted.begin(), sorted.end(), list);
}

void take_out(state::state_changes& state, const row_list& list, const listed& place) {
    state.erase(key_in(list, place));
    const std::uint64_t before = lists::count(state, list);
    put_counted(state, list, before - std::min<std::uint64_t>(before, 1));
}

void put_in(state::state_changes& state, const row_list& list, const listed& place) {
    state.put(key_in(list, place), value_of(place));
    put_counted(state, list, lists::count(state, list) + 1);
}

void move(state::state_changes& state, const row_list& list, const listed& from, const listed& to) {
    if (from.time_updated == to.time_updated && from.model == to.model) return;
    state.erase(key_in(list, from));
    state.put(key_in(list, to), value_of(to));
}

}  // namespace

row_list row_list::models_of(schemas::workspace_id workspace) {
    return row_list(key_in(table::list_of_models, list_kind::all, workspace.value));
}
row_list row_list::models_labelled(schemas::workspace_id workspace, std::string_view label) {
    return row_list(key_in(table::list_of_models, list_kind::label, workspace.value).ended_text(label));
}
row_list row_list::models_owned_by(schemas::workspace_id workspace, schemas::user_id owner) {
    return row_list(key_in(table::list_of_models, list_kind::owner, workspace.value).number(owner));
}
row_list row_list::versions_of(schemas::workspace_id workspace) {
    return row_list(key_in(table::list_of_versions, list_kind::all, workspace.value));
}
row_list row_list::versions_of(schemas::model_id model) {
    return row_list(key_in(table::list_of_versions, list_kind::of_model, model.value));
}
row_list row_list::versions_labelled(schemas::workspace_id workspace, std::string_view label) {
    return row_list(key_in(table::list_of_versions, list_kind::label, workspace.value).ended_text(label));
}
row_list row_list::versions_in(schemas::workspace_id workspace, schemas::stage stage) {
    return row_list(key_in(table::list_of_versions, list_kind::stage, workspace.value)
                        .number(static_cast<std::uint64_t>(stage)));
}
row_list row_list::versions_owned_by(schemas::workspace_id workspace, schemas::user_id owner) {
    return row_list(key_in(table::list_of_versions, list_kind::owner, workspace.value).number(owner));
}
row_list row_list::versions_of_run(schemas::workspace_id workspace, std::string_view experiment_run_id) {
    return row_list(
        key_in(table::list_of_versions, list_kind::run, workspace.value).ended_text(experiment_run_id));
}
row_list row_list::builds_of(schemas::workspace_id workspace) {
    return row_list(key_in(table::list_of_builds, list_kind::all, workspace.value));
}

std::uint64_t lists::count(const state::state_view& state, const row_list& list) {
    return find_number(state, count_key(list)).value_or(0);
}

void lists::each(const state::state_view& state, const row_list& list, list_order order,
                 const std::optional<listed>& after, const std::function<bool(const listed&)>& visit) {
    const auto show = [&](std::string_view key, std::string_view value) {
        return visit(place_in(key, value));
    };
    if (order == list_order::oldest_first)
        return state.scan_back(list.key(), after ? key_in(list, *after) : std::string(), show);
    std::string from;
    if (after) from = key_in(list, *after) + '\0';
    state.scan(list.key(), from, show);
}

void list_entries::sort() {
    std::sort(in.begin(), in.end());
    in.erase(std::unique(in.begin(), in.end()), in.end());
}

void keep_lists(state::state_changes& state, const list_entries* before, const list_entries* after) {
    static const std::vector<row_list> none;
    const std::vector<row_list>& old = before ? before->in : none;
    const std::vector<row_list>& fresh = after ? after->in : none;
    for (const row_list& list : old) {
        if (has(fresh, list))
            move(state, list, before->place, after->place);
        else
            take_out(state, list, before->place);
    }
    for (const row_list& list : fresh)
        if (!has(old, list)) put_in(state, list, after->place);
}

}  // namespace herald::storage::registry::tables
