// Levels: how nodes of different versions share one log (design.md §1 "Levels").
//
// The level in force is a row of the state (RAISE_LEVEL). Everything that apply does, at all nodes the same,
// is decided by it and not by the program that runs: a rule, timer, row or event body that changes asks for
// it (rule_context::level). So does a bound that a rule checks, and the text of a rule's error: outcomes of
// refusals are rows, too. A command above it is refused by every version.
#pragma once

#include <cstdint>

namespace herald::schemas::commands {

/// In a log where nothing was raised yet. Nothing is released: until 1.0.0 everything is of this level, and
/// an incompatible change raises the number in schemas/stored_format.hpp instead.
constexpr std::uint32_t first_level = 1;

/// The highest level of this program's commands and of what its rules check for. A heartbeat advertises it; a
/// log at a higher level is not for this program.
constexpr std::uint32_t newest_level = 1;

}  // namespace herald::schemas::commands
