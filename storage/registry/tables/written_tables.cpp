#include "storage/registry/tables/written_tables.hpp"

#include "storage/registry/tables/tables.hpp"

namespace herald::storage::registry::tables {
namespace {

bool has(const std::bitset<256>& letters, table wanted) {
    return letters.test(static_cast<unsigned char>(wanted));
}

}  // namespace

bool decides_rights(std::string_view key) noexcept {
    if (key.empty()) return false;
    switch (static_cast<table>(key.front())) {
        case table::user:
        case table::user_by_email:
        case table::session:
        case table::group:
        case table::group_member:
        case table::role:
        case table::workspace:
            return true;
        default:
            return false;
    }
}

written_tables::written_tables(const state::row_changes& changes) {
    for (const auto& [key, row] : changes) x_letters.set(static_cast<unsigned char>(key.front()));
}

bool written_tables::has_events() const { return has(x_letters, table::outbox_sequence); }

bool written_tables::has_webhook_changes() const { return has(x_letters, table::webhook_change); }

bool written_tables::has_claims() const { return has(x_letters, table::claim); }

bool written_tables::has_heartbeats() const { return has(x_letters, table::node); }

}  // namespace herald::storage::registry::tables
