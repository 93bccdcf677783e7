// What /readyz says (design.md §1 "Trouble is told").
#pragma once

#include "api/calls/public_call.hpp"
#include "storage/node/node.hpp"

namespace herald::api::operations {

/// Of a worker: {"status", and where it is not ready "reason" and "message"}.
calls::readiness_report report_of(std::optional<runtime::trouble> not_ready);
/// Of an API node: also "writes_refused", then with the reason too, and "next_offset" and "hash": nodes at
/// the same offset must show the same hash (P5). `beside`: trouble that the node does not know of.
calls::readiness_report report_of(const storage::node::registry_node::status&,
                                  const std::optional<runtime::trouble>& beside);

}  // namespace herald::api::operations
