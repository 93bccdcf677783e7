#include "storage/registry/tables/written_tables.hpp"

#include <initializer_list>

#include "storage/registry/tables/tables.hpp"

namespace herald::storage::registry::tables {
namespace {

bool has_one_of(const std::bitset<256>& letters, std::initializer_list<table> wanted) {
    for (const table one : wanted)
        if (letters.test(static_cast<unsigned char>(one))) return true;
    return false;
}

}  // namespace

written_tables::written_tables(const state::row_changes& changes) {
    for (const auto& [key, row] : changes) x_letters.set(static_cast<unsigned char>(key.front()));
}

bool written_tables::has_events() const { return has_one_of(x_letters, {table::outbox_sequence}); }

bool written_tables::has_webhook_changes() const { return has_one_of(x_letters, {table::webhook_change}); }

bool written_tables::has_claims() const { return has_one_of(x_letters, {table::claim}); }

bool written_tables::has_rights() const {
    return has_one_of(
        x_letters, {table::user, table::user_by_email, table::group_member, table::role, table::workspace});
}

}  // namespace herald::storage::registry::tables
