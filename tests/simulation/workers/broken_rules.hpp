// Rules of a calm change of a group's members and of a worker that is late (delivery.md §4 "Pace") broken on
// purpose, by something between a worker and what it is given: the product's own code has no switch for it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "events/log/log.hpp"
#include "tests/simulation/virtual_time.hpp"

namespace herald::test {

struct broken_rule {
    std::string_view name;
    std::string_view what;
    /// What a worker is given in place of a member of its groups; empty: the member itself.
    std::function<std::unique_ptr<events::log::group_member>(std::unique_ptr<events::log::group_member>)>
        wrap;
    /// The time that an answer took counts until the worker's own loop has it.
    bool is_timed_by_the_loop = false;
    /// A worker does not know that it was held up: its clock stands meanwhile.
    bool hides_lateness = false;
};

/// The first, with an empty name, breaks nothing.
const std::vector<broken_rule>& all_broken_rules();
/// Throws std::invalid_argument for an unknown name.
const broken_rule& broken_rule_named(std::string_view name);

/// Every group member that is opened on it is wrapped so.
std::unique_ptr<events::log::partitioned_log> with_members(events::log::partitioned_log&, const broken_rule&);

/// What a worker is given as its scheduler.
std::unique_ptr<runtime::scheduler> scheduler_of(process_thread&, const broken_rule&);

}  // namespace herald::test
