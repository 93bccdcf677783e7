// Which state a read needs.
#pragma once

#include <cstdint>

namespace herald::storage::node {

enum class freshness : std::uint8_t {
    applied,  // what this node has applied, even if the cluster is ahead
    newest,   // with every write that was answered before
};

}  // namespace herald::storage::node
