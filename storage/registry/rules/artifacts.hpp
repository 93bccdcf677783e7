// What rules about versions must know of the bytes of artifacts.
#pragma once

#include "schemas/artifacts.hpp"
#include "schemas/registry.hpp"
#include "storage/registry/context/rule_context.hpp"

namespace herald::storage::registry::rules {

/// After an update of a version, and after the row was written: releases the bytes of entries that are gone
/// or have another path.
void drop_removed_bytes(context::rule_context&, const schemas::model_version& before,
                        const schemas::model_version& after);

/// Another reference to each of these bytes, which have one already.
void hold_bytes(context::rule_context&, const std::vector<schemas::blob_part>&);
/// One reference less to each; of many, a timer lets go.
void release_bytes(context::rule_context&, std::vector<schemas::blob_part>);

/// Releases all bytes of a version whose row is erased by the same command or timer. One row, if there are
/// any bytes; a timer does the rest, in steps.
void drop_bytes_of(context::rule_context&, schemas::version_id);

}  // namespace herald::storage::registry::rules
