// What /readyz answers (design.md §1 "Trouble is told").
#pragma once

#include "api/calls/public_call.hpp"
#include "storage/node/node.hpp"

namespace herald::api::operations {

/// {"status"}, and "reason" and "message" when it is not ready.
calls::readiness_report report_of(std::optional<runtime::trouble> not_ready);
/// As report_of. Errors: invalid_argument for reads, which a worker does not answer.
result<calls::readiness_report> report_of_worker(std::optional<runtime::trouble> not_ready, calls::ready_for);
/// For an API node: also "writes_refused" (then with its reason), "next_offset" and "hash": nodes at the same
/// offset must show the same hash (P5). `beside`: trouble that the node does not know about, and that counts
/// for what was asked.
calls::readiness_report report_of(const storage::node::registry_node::status&,
                                  const std::optional<runtime::trouble>& beside,
                                  calls::ready_for = calls::ready_for::everything);

}  // namespace herald::api::operations
