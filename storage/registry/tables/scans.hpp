// Scans; found by id and by build.
#pragma once

#include "schemas/deployment.hpp"
#include "storage/registry/tables/keyed_table.hpp"

namespace herald::storage::registry::tables {

extern template class keyed_table<schemas::scan, schemas::scan_id>;

class scans final : public keyed_table<schemas::scan, schemas::scan_id> {
  public:
    /// The build's scans by ascending id, from `from` on (0: from the first).
    static void each_of(const state::state_view&, schemas::build_id, schemas::scan_id from,
                        const visitor<schemas::scan_id>&);
    /// The same by descending id, those before `before`.
    static void each_back_of(const state::state_view&, schemas::build_id, schemas::scan_id before,
                             const visitor<schemas::scan_id>&);
};

}  // namespace herald::storage::registry::tables
