// A second opinion on the governance of a version: what wire.md §3 and §4 say must be so after a step, judged
// from what was asked and what succeeded before, and from the rows that it left.
#pragma once

#include <array>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "storage/registry/state/state.hpp"
#include "tests/simulation/governance/governance.hpp"

namespace herald::test::governance {

/// What must never be.
class invariant_broken final : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// What succeeded on the way to a state. A value: each sequence has its own.
class memory {
  public:
    memory() { x_policies.require_approval_for = {schemas::stage::production}; }

    /// Judges a step, and remembers it if it succeeded. Throws invariant_broken.
    void see(const move&, bool succeeded, const storage::registry::state::state_view& before,
             const storage::registry::state::state_view& after);
    /// Equal for equal memories.
    std::string text() const;

  private:
    struct transition {
        schemas::user_id author;
        schemas::stage source{}, desired{};
        bool is_open = true;
        std::map<schemas::user_id, bool> last_word;  // approves; approvals of what has changed are gone

        auto operator<=>(const transition&) const = default;
    };
    enum class scan : std::uint8_t { none, going, safe, unsafe, failed };
    struct build {
        scan newest = scan::none;
        bool was_unsafe = false;
        bool is_outdated = false;  // the version is not what it was made of

        auto operator<=>(const build&) const = default;
    };
    struct opinion;

    bool may_update(schemas::user_id) const;
    bool may_approve(schemas::user_id) const;
    bool is_safe() const;
    bool is_rejected(const transition&) const;
    bool is_approved(const transition&) const;
    bool needs_approval(schemas::stage) const;
    bool lacks_scan(schemas::stage) const;
    bool may_commit(const transition&) const;

    void saw_contents(const opinion& before, const opinion& after);
    void check_stage(const move&, const opinion& before, const opinion& after);
    void check_lock(const move&, const opinion& before, const opinion& after) const;
    void check_promotion(const move&, const opinion& before, const opinion& after) const;
    void check_safety(const storage::registry::state::state_view& after, const opinion&) const;

    void saw(const move&, bool succeeded, const commands::create_transition&, const opinion& after);
    void saw(const move&, bool succeeded, const commands::review_transition&, const opinion& after);
    void saw(const move&, bool succeeded, const commands::close_transition&, const opinion& after);
    void saw(const move&, bool succeeded, const commands::commit_transition&, const opinion& after);
    void saw(const move&, bool succeeded, const commands::update_stage&, const opinion& after);
    void saw(const move&, bool succeeded, const commands::request_scan&, const opinion& after);
    void saw(const move&, bool succeeded, const commands::report_scan&, const opinion& after);
    void saw(const move&, bool succeeded, const commands::set_policies&, const opinion& after);
    void saw(const move&, bool succeeded, const change_of_role&, const opinion& after);
    void saw(const move&, bool succeeded, const passing_of_time&, const opinion& after);
    template <class Other>
    void saw(const move&, bool, const Other&, const opinion&) {}

    schemas::stage x_stage = schemas::stage::unassigned;
    schemas::workspace_policies x_policies;
    bobs_role x_bob = bobs_role::editor;
    std::map<std::uint64_t, transition> x_transitions;
    std::array<build, 2> x_builds;
};

}  // namespace herald::test::governance
