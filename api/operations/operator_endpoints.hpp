// What /readyz answers (design.md §1 "Trouble is told").
#pragma once

#include "api/calls/public_call.hpp"
#include "storage/node/node.hpp"

namespace herald::api::operations {

/// For a worker: {"status"}, and "reason" and "message" when it is not ready.
calls::readiness_report report_of(std::optional<runtime::trouble> not_ready);
/// For an API node: also "writes_refused" (then with its reason), "next_offset" and "hash": nodes at the same
/// offset must show the same hash (P5). `beside`: trouble that the node itself cannot see.
calls::readiness_report report_of(const storage::node::registry_node::status&,
                                  const std::optional<runtime::trouble>& beside);

}  // namespace herald::api::operations
