// The format of everything that Herald stores: the log with GENESIS and all other commands, the state, the
// history of deliveries, backups.
//
// Nothing is released. Until 1.0.0 rows, commands and field numbers may change, and a change that makes old
// data unreadable raises this number: such data are refused, never misread. From 1.0.0 on the number stays,
// and levels (commands/level.hpp) take over.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/error.hpp"

namespace herald::schemas {

/// Builds before this number had none.
constexpr std::uint32_t stored_format = 3;

/// `what`: the data in question, for the error. `found`: their number; 0: they have none. Errors:
/// failed_precondition when it is not this program's: exit code 3.
result<void> check_stored_format(std::string_view what, std::uint64_t found);

}  // namespace herald::schemas
