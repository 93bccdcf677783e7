// The governance of versions, explored: every sequence of a few commands, by three users, on one version with
// two builds, under every mix of policies and roles. What the rules decide is compared, command by command,
// with a second opinion that remembers only what succeeded (reference.hpp), written from wire.md §3 and §4
// and not from the rules.
//
// Sequences that lead to the same state are followed once. States are the same when everything that the rules
// read is the same but times, comments and numbers that only count (world::fingerprint).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "schemas/commands/all.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::test::governance {

namespace commands = schemas::commands;

/// The workspace's owner of its policies: a member of Admins.
inline constexpr schemas::user_id admin{1};
/// Reads and writes.
inline constexpr schemas::user_id ann{2};
/// What he may do changes on the way: one of `bobs_roles`.
inline constexpr schemas::user_id bob{3};
inline constexpr schemas::user_id users[] = {admin, ann, bob};

enum class bobs_role : std::uint8_t { editor, approver, reader };

/// Bob gets another role in the workspace.
struct change_of_role {
    bobs_role to = bobs_role::editor;
};
/// The first timer that is set is due.
struct passing_of_time {};

/// A step: what somebody tries.
struct move {
    std::string words;
    schemas::user_id by;
    std::variant<commands::create_transition, commands::review_transition, commands::close_transition,
                 commands::commit_transition, commands::update_stage, commands::lock_version,
                 commands::update_version, commands::delete_version, commands::fail_promotion,
                 commands::request_scan, commands::report_scan, commands::set_policies, change_of_role,
                 passing_of_time>
        what;
};

/// A rule broken on purpose. Members that are not set change nothing.
struct mutation {
    std::string_view name;
    std::string_view breaks;
    /// Changes rows as the rule reads them.
    std::function<void(const move&, std::string_view key, std::string& row)> row;
    /// In whose name the rule runs.
    std::function<schemas::user_id(const move&)> principal;
};
const std::vector<mutation>& mutations();

/// Where every sequence begins, and how it goes on.
class world {
  public:
    /// `broken` may be null, and must outlive it.
    explicit world(const mutation* broken);

    std::shared_ptr<const storage::registry::state::state_view> beginning() const { return x_beginning; }
    /// Everything that anybody may try in that state.
    std::vector<move> moves_in(const storage::registry::state::state_view&) const;
    /// Tries it over `changes`, which holds nothing of it when it is refused; `depth` counts the steps.
    result<void> play(const move&, std::uint32_t depth,
                      storage::registry::state::state_changes& changes) const;
    /// Equal for states that are the same.
    std::string fingerprint(const storage::registry::state::state_view&) const;

  private:
    const mutation* const x_broken;
    std::unique_ptr<storage::registry::state::state_store> x_store;
    std::shared_ptr<const storage::registry::state::state_view> x_beginning;
};

inline constexpr schemas::version_id the_version{1};
inline constexpr schemas::build_id the_builds[] = {schemas::build_id{1}, schemas::build_id{2}};

}  // namespace herald::test::governance
