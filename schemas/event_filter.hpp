// Which events a webhook's filter lets through, by their bodies (wire.md §7 "Settings of a webhook"). Pure:
// the rules ask it when they make an audience, and a node that sends READ events.
#pragma once

#include <span>
#include <vector>

#include "schemas/json.hpp"
#include "schemas/webhooks.hpp"

namespace herald::schemas {

/// Whether the body of an event meets all conditions.
/// - Numbers compare as numbers, exactly where both are integers; texts by their bytes. EQ, NE, IN and NOT_IN
///   compare any JSON; the operators of order hold only between two numbers or two texts.
/// - CONTAIN: a text within a text, or an element of a list.
/// - A member that is not there meets NE and NOT_CONTAIN alone.
/// - The value of an attribute in a list of {key, value} may be a number as a text, as in PROMOTE: it
/// compares
///   with a number as a number.
/// A condition whose value is not JSON holds for nothing.
bool passes(std::span<const filter_condition>, const json_value& body);

/// Errors: invalid_argument, saying which condition is wrong and what would be right: more than
/// limits::filter_conditions_max, a path that is empty or too long, a value that is too long or does not fit
/// the operator, and a path whose first member none of the events that the webhook hears has.
result<void> check_filter(const webhook_settings&);

}  // namespace herald::schemas
