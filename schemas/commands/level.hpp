// Levels: how nodes of different versions share one log (design.md §1 "Levels").
//
// The level in force is a row of the state (RAISE_LEVEL). Everything that apply does, at all nodes the same,
// is decided by it and not by the program that runs: a rule, timer, row or event body that changes asks for
// it (rule_context::level). So does a bound that a rule checks, and the text of a rule's error: outcomes of
// refusals are rows, too. A command above it is refused by every version.
#pragma once

#include <cstdint>

namespace herald::schemas::commands {

/// In a log where nothing was raised yet.
constexpr std::uint32_t first_level = 1;

/// Brings the whole registry: deletion, locks, indexes for finding, artifacts, events of every change, the
/// audit, and everything about users, groups, roles and workspaces. Until it is released its rules and rows
/// may still change.
constexpr std::uint32_t registry_level = 2;

/// Brings predictions: endpoints with their stages, tokens and updates, and builds made of a version's model.
/// Until it is released its rules and rows may still change.
constexpr std::uint32_t serving_level = 3;

/// The highest level of this program's commands and of what its rules check for. A heartbeat advertises it; a
/// log at a higher level is not for this program.
constexpr std::uint32_t newest_level = 3;

}  // namespace herald::schemas::commands
