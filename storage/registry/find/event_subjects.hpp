// What events are about: names, and who may see it (wire.md §7 "Deliveries").
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "schemas/identity.hpp"
#include "schemas/webhooks.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::find {

/// Empty where it is gone.
struct event_subject {
    std::string model;
    std::string version;
    std::string build;  // its id
};
event_subject subject_of(const state::state_view&, schemas::resource_type, std::string_view resource_id);

/// Whether the user may read it; false for what is gone.
bool may_read_subject(const state::state_view&, schemas::user_id, const schemas::workspace&,
                      schemas::resource_type, std::string_view resource_id);
/// Whether the user may send events about it again: UPDATE on a model or version, DEPLOY on an endpoint, and
/// for a build UPDATE on its version.
bool may_resend_about(const state::state_view&, schemas::user_id, const schemas::workspace&,
                      schemas::resource_type, std::string_view resource_id);

/// As the outbox has it, for 30 days.
std::optional<schemas::event> find_event(const state::state_view&, std::string_view event_id);

/// Time of the oldest event that is kept; 0: there is none.
std::int64_t oldest_event_ms(const state::state_view&);
/// The e-mail of who sent the command that caused it; "" for Herald itself, and when the audit has no row of
/// it any more.
std::string who_caused(const state::state_view&, const schemas::event&);

}  // namespace herald::storage::registry::find
