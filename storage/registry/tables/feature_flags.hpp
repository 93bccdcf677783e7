// What an operator has switched on or off; found by name.
#pragma once

#include "schemas/feature_flags.hpp"
#include "storage/registry/tables/keyed_table.hpp"

namespace herald::storage::registry::tables {

extern template class keyed_table<schemas::feature_flag, std::string>;

class feature_flags final : public keyed_table<schemas::feature_flag, std::string> {};

}  // namespace herald::storage::registry::tables
