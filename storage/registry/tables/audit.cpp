#include "storage/registry/tables/audit.hpp"

#include "schemas/deployment.hpp"
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

std::optional<schemas::version_id> version_of_entry(const state::state_view& state, schemas::activity_id id) {
    constexpr unsigned number = number_of_member<schemas::activity>("model_version_id");
    const auto found = member_of<schemas::activity, number>(state, key_of(table::activity).number(id));
    if (!found) return std::nullopt;
    return schemas::version_id{*found};
}

}  // namespace herald::storage::registry::tables
