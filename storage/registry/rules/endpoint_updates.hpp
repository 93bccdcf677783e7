// How a stage comes from one build to another (design.md §4): an update waits for its build, then until every
// node that serves predictions has loaded it; a canary then gets its share in steps. Whatever goes wrong, the
// old component serves on.
#pragma once

#include "schemas/deployment.hpp"
#include "schemas/endpoints.hpp"
#include "storage/registry/context/rule_context.hpp"

namespace herald::storage::registry::rules {

/// The build has been made, could not be made, or was reported unsafe. Updates that wait for it go on, those
/// that cannot end at once, and where it serves while it is unsafe, its component says so. Of the stages
/// after this one at most limits::stages_followed_at_once_max now, and the others by a timer: what is served
/// follows the build itself, and waits for none of them.
void follow_build(context::rule_context&, const schemas::build&, schemas::endpoint_stage_id from = {});
/// The stage goes: so does the update that runs there.
void forget_update(context::rule_context&, const schemas::endpoint_stage&);

// What runs an update (serving.cpp) does to it:

/// The update's build serves alone from here on, and the update is gone.
void complete_update(context::rule_context&, const schemas::endpoint_update&);
/// The old component serves alone, the new one says why it does not, and the update is gone.
void roll_back(context::rule_context&, const schemas::endpoint_update&, const std::string& reason);
/// A canary goes on: its build gets this share, the old one the rest.
void set_share(context::rule_context&, const schemas::endpoint_update&, std::uint32_t new_ppm);
/// The new component's share now.
std::uint32_t share_of(const context::rule_context&, const schemas::endpoint_update&);
/// Whether it replaces a component that answers: one of an unsafe build does not.
bool replaces_what_serves(const context::rule_context&, const schemas::endpoint_update&);
/// Begins to wait for the nodes (serving.cpp).
void begin_loading(context::rule_context&, schemas::endpoint_update);
/// Cancels the timer of the update's next step, if one is set (serving.cpp).
void cancel_step(context::rule_context&, const schemas::endpoint_update&);

}  // namespace herald::storage::registry::rules
