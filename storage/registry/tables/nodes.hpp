// The nodes that have sent heartbeats, their processes that were replaced, and who holds which job; found by
// name.
#pragma once

#include "schemas/nodes.hpp"
#include "storage/registry/tables/keyed_table.hpp"

namespace herald::storage::registry::tables {

extern template class keyed_table<schemas::node_row, std::string>;
extern template class keyed_table<schemas::claim_row, std::string>;
extern template class keyed_table<schemas::replaced_processes_row, std::string>;

class nodes final : public keyed_table<schemas::node_row, std::string> {};
class claims final : public keyed_table<schemas::claim_row, std::string> {};
class replaced_processes final : public keyed_table<schemas::replaced_processes_row, std::string> {};

}  // namespace herald::storage::registry::tables
