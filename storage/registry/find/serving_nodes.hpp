// Which nodes may still serve a build that was reported unsafe (promise P7, design.md §4).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schemas/deployment.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::find {

struct unconfirmed_node {
    std::string node;
    std::int64_t serves_until_ms = 0;  // log time: it has stopped by itself by then
    bool is_in_contact = false;        // it was heard lately, and will say that it knows
};

/// By name: the nodes with a process that serves predictions, has not confirmed the record at this offset,
/// and may go on as before for a while, even if a later process of the node has replaced it.
std::vector<unconfirmed_node> unconfirmed_nodes(const state::state_view&, std::uint64_t offset);

/// Whether a node that serves predictions is in contact (design.md §4).
bool is_any_serving(const state::state_view&);

}  // namespace herald::storage::registry::find
