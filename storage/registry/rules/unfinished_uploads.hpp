// Multipart uploads that are not committed yet: which parts have arrived, and which of them the sender says
// belong together. An upload has no id (docs/decisions/storage-artifacts.md).
#pragma once

#include <string>
#include <vector>

#include "schemas/artifacts.hpp"
#include "schemas/commands/artifacts.hpp"
#include "schemas/registry.hpp"
#include "storage/registry/context/rule_context.hpp"

namespace herald::storage::registry::rules {

using part_named = schemas::commands::commit_multipart_artifact::named_part;

std::vector<schemas::blob_part> parts_of(const schemas::unfinished_upload&);

/// The unfinished upload for this entry as it is now, or a new one, which is not stored. One for an earlier
/// path is released.
schemas::unfinished_upload upload_for(context::rule_context&, const schemas::model_version&,
                                      const std::string& key);

/// Takes a part whose reference is counted already. It replaces an earlier one of that number, which is
/// released, and no other part. A second part 1 may be the beginning of another upload: the others count as
/// not committed.
schemas::uploaded_part& put_part(context::rule_context&, schemas::unfinished_upload&, std::uint32_t number,
                                 const schemas::blob_part&);

/// The whole came in one piece in place of another, which to its sender may be part 1: of an unfinished
/// upload it replaces that part, and the others count as not committed. commit_part() finds it.
void replace_first_part(context::rule_context&, schemas::version_id, const std::string& key);

/// Commits the part; part 1 may also be the artifact's only bytes. Errors: failed_precondition for one that
/// was not uploaded; invalid_argument for another ETag.
result<void> commit_part(context::rule_context&, const schemas::model_version&, schemas::unfinished_upload&,
                         const part_named&);

/// Commits the named parts, which are the whole, and releases all others. Errors: as commit_part;
/// invalid_argument for numbers that are not 1, 2, 3 …
result<void> commit_named(context::rule_context&, const schemas::model_version&, schemas::unfinished_upload&,
                          const std::vector<part_named>&);

/// Errors: failed_precondition naming the first part that is missing or not committed.
result<void> check_all_committed(const schemas::unfinished_upload&);

}  // namespace herald::storage::registry::rules
