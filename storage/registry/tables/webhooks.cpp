#include "storage/registry/tables/webhooks.hpp"

#include "storage/registry/tables/description.hpp"

namespace herald::storage::registry::tables {
namespace {

key_of name_key(schemas::workspace_id workspace, std::string_view name) {
    return key_of(table::webhook_by_name).number(workspace).text(name);
}

key_of change_key(std::uint64_t offset, schemas::webhook_id id) {
    return key_of(table::webhook_change).number(offset).number(id);
}

std::string event_key(schemas::workspace_id workspace, std::string_view event_uuid) {
    return key_of(table::external_event).number(workspace).text(event_uuid);
}

}  // namespace

template <>
struct description<schemas::webhook> {
    static constexpr table rows = table::webhook;
    static void index(const schemas::webhook& row, index_entries& entries) {
        entries.lead(name_key(row.workspace_id, row.settings.name), row.id);
        entries.mark(key_of(table::webhook_of_workspace).number(row.workspace_id).number(row.id));
        entries.mark(change_key(row.revision, row.id));
    }
};

template class keyed_table<schemas::webhook, schemas::webhook_id>;

std::optional<schemas::webhook_id> webhooks::named(const state::state_view& state,
                                                   schemas::workspace_id workspace, std::string_view name) {
    return id_at<schemas::webhook_id>(state, name_key(workspace, name));
}

void webhooks::each_of(const state::state_view& state, schemas::workspace_id workspace,
                       schemas::webhook_id from, const visitor<schemas::webhook_id>& visit) {
    each_id_under(state, key_of(table::webhook_of_workspace).number(workspace), from, visit);
}

std::string webhooks::erase_at(state::state_changes& state, const schemas::webhook& hook,
                               std::uint64_t offset) {
    erase(state, hook);
    std::string name = change_key(offset, hook.id);
    state.put(name, "-");
    return name;
}

void webhooks::forget_erasure(state::state_changes& state, std::string_view name) {
    HERALD_ASSERT(name.size() == 17 && name.front() == static_cast<char>(table::webhook_change));
    state.erase(std::string(name));
}

void webhooks::each_change(const state::state_view& state, std::uint64_t from, const visitor<change>& visit) {
    const std::string prefix = key_of(table::webhook_change);
    const std::string start = key_of(table::webhook_change).number(from);
    state.scan(prefix, start, [&](std::string_view key, std::string_view) {
        return visit({number_in_key(key), schemas::webhook_id{number_in_key(key, 8)}});
    });
}

std::optional<schemas::external_event> external_events::find(const state::state_view& state,
                                                             schemas::workspace_id workspace,
                                                             std::string_view event_uuid) {
    return find_row<schemas::external_event>(state, event_key(workspace, event_uuid));
}

std::string external_events::put(state::state_changes& state, const schemas::external_event& row) {
    std::string name = event_key(row.workspace_id, row.event_uuid);
    put_row(state, name, row);
    return name;
}

void external_events::forget(state::state_changes& state, std::string_view name) {
    HERALD_ASSERT(!name.empty() && name.front() == static_cast<char>(table::external_event));
    state.erase(std::string(name));
}

}  // namespace herald::storage::registry::tables
