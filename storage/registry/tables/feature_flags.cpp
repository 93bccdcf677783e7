#include "storage/registry/tables/feature_flags.hpp"

#include "storage/registry/tables/description.hpp"

namespace herald::storage::registry::tables {

template <>
struct description<schemas::feature_flag> {
    static constexpr table rows = table::feature_flag;
    static const std::string& key(const schemas::feature_flag& row) { return row.name; }
};

template class keyed_table<schemas::feature_flag, std::string>;

}  // namespace herald::storage::registry::tables
