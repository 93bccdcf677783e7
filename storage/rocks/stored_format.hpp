// The number of the format (schemas/stored_format.hpp) that each of Herald's databases has beside its files.
#pragma once

#include <filesystem>

#include "runtime/error.hpp"

namespace herald::storage::rocks {

/// To be called before the database in the existing `folder` is opened. Writes the number into a folder that
/// has no database yet. `what`: "the log", for the error. Errors: failed_precondition when another build made
/// the database: exit code 3; unavailable when the number cannot be written.
result<void> check_stored_format(const std::filesystem::path& folder, std::string_view what);

/// Errors: unavailable.
result<void> put_stored_format(const std::filesystem::path& folder);

}  // namespace herald::storage::rocks
