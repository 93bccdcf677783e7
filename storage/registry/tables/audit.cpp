#include "storage/registry/tables/audit.hpp"

#include "schemas/deployment.hpp"
#include "schemas/identity.hpp"
#include "schemas/number_fields.hpp"
#include "schemas/registry.hpp"
#include "schemas/webhooks.hpp"
#include "storage/registry/tables/tables.hpp"

namespace herald::storage::registry::tables {
namespace {

constexpr std::uint64_t head_place = 0;  // rows begin at 1

std::string row_key(std::uint64_t sequence) { return key_of(table::audit).number(sequence); }

template <schemas::described Row>
consteval unsigned number_of_member(std::string_view name) {
    unsigned found = 0;
    Row::describe(schemas::detail::no_value<Row>.value,
                  [&](unsigned number, std::string_view each, const auto&, auto...) {
                      if (each == name) found = number;
                  });
    return found;
}

/// A member of the row that is a number.
template <schemas::described Row, unsigned number>
std::optional<std::uint64_t> member_of(const state::state_view& state, const std::string& key) {
    static_assert(number != 0);
    std::optional<std::uint64_t> found;
    state.read(key, [&](std::string_view value) { found = schemas::find_number(value, number); });
    return found;
}

template <schemas::described Row>
std::optional<schemas::workspace_id> workspace_in(const state::state_view& state, std::string key) {
    const auto found = member_of<Row, number_of_member<Row>("workspace_id")>(state, key);
    if (!found) return std::nullopt;
    return schemas::workspace_id{*found};
}

/// A member of the row that is a text, or a message; empty if there is none.
template <unsigned number>
std::string bytes_in(const state::state_view& state, const std::string& key) {
    static_assert(number != 0);
    std::string found;
    state.read(key, [&](std::string_view value) {
        found = schemas::find_bytes(value, number).value_or(std::string_view());
    });
    return found;
}

template <schemas::described Row>
std::string name_in(const state::state_view& state, table from, std::uint64_t id) {
    return bytes_in<number_of_member<Row>("name")>(state, key_of(from).number(id));
}

/// The settings are a message in the row.
std::string name_of_webhook(const state::state_view& state, std::uint64_t id) {
    constexpr unsigned settings = number_of_member<schemas::webhook>("settings");
    constexpr unsigned name = number_of_member<schemas::webhook_settings>("name");
    const std::string found = bytes_in<settings>(state, key_of(table::webhook).number(id));
    return std::string(schemas::find_bytes(found, name).value_or(std::string_view()));
}

}  // namespace

schemas::audit_head audit_rows::head(const state::state_view& state) {
    return find_row<schemas::audit_head>(state, row_key(head_place)).value_or(schemas::audit_head{});
}

void audit_rows::put_head(state::state_changes& state, const schemas::audit_head& head) {
    put_row(state, row_key(head_place), head);
}

std::optional<schemas::audit_row> audit_rows::find(const state::state_view& state, std::uint64_t sequence) {
    HERALD_ASSERT(sequence != head_place);
    return find_row<schemas::audit_row>(state, row_key(sequence));
}

void audit_rows::each(const state::state_view& state, std::uint64_t from,
                      const visitor<schemas::audit_row>& visit) {
    HERALD_ASSERT(from != head_place);
    const std::string prefix = key_of(table::audit);
    state.scan(prefix, row_key(from), [&](std::string_view key, std::string_view value) {
        return visit(decode_row<schemas::audit_row>(key, value));
    });
}

void audit_rows::put(state::state_changes& state, const schemas::audit_row& row) {
    HERALD_ASSERT(row.sequence != head_place);
    put_row(state, row_key(row.sequence), row);
}

void audit_rows::erase(state::state_changes& state, std::uint64_t sequence) {
    HERALD_ASSERT(sequence != head_place);
    state.erase(row_key(sequence));
}

std::optional<schemas::workspace_id> workspace_of_row(const state::state_view& state, schemas::model_id id) {
    return workspace_in<schemas::registered_model>(state, key_of(table::model).number(id));
}
std::optional<schemas::workspace_id> workspace_of_row(const state::state_view& state,
                                                      schemas::version_id id) {
    return workspace_in<schemas::model_version>(state, key_of(table::version).number(id));
}
std::optional<schemas::workspace_id> workspace_of_row(const state::state_view& state, schemas::build_id id) {
    return workspace_in<schemas::build>(state, key_of(table::build).number(id));
}
std::optional<schemas::workspace_id> workspace_of_row(const state::state_view& state,
                                                      schemas::webhook_id id) {
    return workspace_in<schemas::webhook>(state, key_of(table::webhook).number(id));
}
std::optional<schemas::workspace_id> workspace_of_row(const state::state_view& state, schemas::replay_id id) {
    return workspace_in<schemas::replay>(state, key_of(table::replay).number(id));
}

std::string name_of_row(const state::state_view& state, std::string_view kind, std::uint64_t id) {
    constexpr unsigned username = number_of_member<schemas::user>("username");
    constexpr unsigned version = number_of_member<schemas::model_version>("version");
    if (kind == "user") return bytes_in<username>(state, key_of(table::user).number(id));
    if (kind == "version") return bytes_in<version>(state, key_of(table::version).number(id));
    if (kind == "webhook") return name_of_webhook(state, id);
    if (kind == "model") return name_in<schemas::registered_model>(state, table::model, id);
    if (kind == "organization") return name_in<schemas::organization>(state, table::organization, id);
    if (kind == "workspace") return name_in<schemas::workspace>(state, table::workspace, id);
    if (kind == "group") return name_in<schemas::group>(state, table::group, id);
    if (kind == "role") return name_in<schemas::role>(state, table::role, id);
    if (kind == "session") return name_in<schemas::session>(state, table::session, id);
    return {};
}

std::optional<schemas::version_id> version_of_entry(const state::state_view& state, schemas::activity_id id) {
    constexpr unsigned number = number_of_member<schemas::activity>("model_version_id");
    const auto found = member_of<schemas::activity, number>(state, key_of(table::activity).number(id));
    if (!found) return std::nullopt;
    return schemas::version_id{*found};
}

}  // namespace herald::storage::registry::tables
