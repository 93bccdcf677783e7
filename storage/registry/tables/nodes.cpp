#include "storage/registry/tables/nodes.hpp"

#include "storage/registry/tables/description.hpp"

namespace herald::storage::registry::tables {

template <>
struct description<schemas::node_row> {
    static constexpr table rows = table::node;
    static const std::string& key(const schemas::node_row& row) { return row.node; }
};

template <>
struct description<schemas::claim_row> {
    static constexpr table rows = table::claim;
    static const std::string& key(const schemas::claim_row& row) { return row.job; }
};

template <>
struct description<schemas::replaced_processes_row> {
    static constexpr table rows = table::replaced_processes;
    static const std::string& key(const schemas::replaced_processes_row& row) { return row.node; }
};

template class keyed_table<schemas::node_row, std::string>;
template class keyed_table<schemas::claim_row, std::string>;
template class keyed_table<schemas::replaced_processes_row, std::string>;

}  // namespace herald::storage::registry::tables
