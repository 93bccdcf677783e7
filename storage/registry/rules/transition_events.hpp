// TRANSITION: those who approve, and those who wait for them, are told (wire.md §7 "Events").
#pragma once

#include <string>

#include "storage/registry/context/rule_context.hpp"
#include "storage/registry/tables/stages.hpp"

namespace herald::storage::registry::rules {

enum class transition_step : std::uint8_t { requested, approved, rejected, closed, committed };

/// What was done with a transition. `after`: its row now; `comment`: given with this step.
struct transition_news {
    transition_step step;
    const tables::transition_row& after;
    const schemas::model_version& version;
    schemas::user_id by;
    const std::string& comment;
};
void tell_transition(context::rule_context&, const transition_news&);

}  // namespace herald::storage::registry::rules
