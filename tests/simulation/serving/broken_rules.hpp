// Rules of promise P7 broken on purpose, each by something around the product's code, which has no switch for
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "storage/registry/state/state.hpp"

namespace herald::test::serving {

/// What the clock of the gate shows in place of the time.
enum class gate_time : std::uint8_t {
    true_time,
    never_late,                   // no lease ends
    behind,                       // leases end later than the others were told
    stops_with_the_process,       // what the process did not live to see does not count
    from_when_it_was_heard,       // leases are as long as if counted from when the heartbeat was applied
    from_the_newest_that_is_sent  // and from a heartbeat that may never be applied
};

/// Changes a row for who looks at it; false: it is hidden from him.
using row_change = bool (*)(std::string_view key, std::string& row);

/// What is done otherwise than the design says. By default: nothing.
struct broken_rules {
    // Predictions:
    bool has_no_second_look = false;
    bool looks_at_its_snapshot = false;
    gate_time lease = gate_time::true_time;
    // What a node knows:
    bool serves_before_the_end_of_the_log = false;
    row_change rows_at_start = nullptr;
    bool tells_the_gate_of_routes_only = false;
    bool shows_late = false;
    // What it tells the others:
    bool tells_before_quiescence = false;
    bool tells_at_its_next_turn = false;
    bool tells_of_no_serving = false;
    bool says_farewell_before_closing = false;
    bool says_farewell_before_quiescence = false;
    // The answer to a report, and what a scan says later:
    row_change rows_of_answers = nullptr;
    row_change rows_of_scans = nullptr;
    bool names_nobody = false;
    bool answers_at_once = false;
    bool answers_never_late = false;
    bool awaits_no_own_threads = false;
};

struct named_mutation {
    std::string_view name;
    std::string_view what;
    broken_rules broken;
};
/// The first, with an empty name, breaks nothing.
std::span<const named_mutation> all_mutations();

/// The state as somebody sees it whose rows are changed. Null: as it is.
std::shared_ptr<const storage::registry::state::state_view> changed_view(
    std::shared_ptr<const storage::registry::state::state_view>, row_change);

}  // namespace herald::test::serving
