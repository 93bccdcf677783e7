// Decides what is not a change when a client writes back what it has read (wire.md "What is a change").
#pragma once

#include "schemas/registry.hpp"

namespace herald::storage::registry::rules {

/// Gives `after` the stored bytes of `before` for each part that means the same in both: an attribute, the
/// environment, docker_metadata, the code. Any remaining difference is a change.
void keep_what_is_unchanged(schemas::model_version& after, const schemas::model_version& before);
/// The same of a model: an attribute, the visibility, the permission.
void keep_what_is_unchanged(schemas::registered_model& after, const schemas::registered_model& before);

/// Gives the files of `after` the server's upload_completed: that of `before` where an entry has kept its
/// path. Clients do not decide whether bytes are there.
void keep_uploads(schemas::model_version& after, const schemas::model_version& before);

/// Whether an absent member means the same as one with its default value.
enum class absent_is_default : bool { no, yes };
/// Members may be in any order. Integers are compared exactly, other numbers as doubles.
bool means_the_same(const schemas::json_text&, const schemas::json_text&, absent_is_default);

}  // namespace herald::storage::registry::rules
