#include "storage/registry/tables/scans.hpp"

#include "storage/registry/tables/description.hpp"

namespace herald::storage::registry::tables {

template <>
struct description<schemas::scan> {
    static constexpr table rows = table::scan;
    static void index(const schemas::scan& row, index_entries& entries) {
        entries.mark(key_of(table::scan_of_build).number(row.build_id).number(row.id));
    }
};

template class keyed_table<schemas::scan, schemas::scan_id>;

void scans::each_of(const state::state_view& state, schemas::build_id build, schemas::scan_id from,
                    const visitor<schemas::scan_id>& visit) {
    each_id_under(state, key_of(table::scan_of_build).number(build), from, visit);
}

void scans::each_back_of(const state::state_view& state, schemas::build_id build, schemas::scan_id before,
                         const visitor<schemas::scan_id>& visit) {
    if (before) each_id_back_under(state, key_of(table::scan_of_build).number(build), before, visit);
}

}  // namespace herald::storage::registry::tables
