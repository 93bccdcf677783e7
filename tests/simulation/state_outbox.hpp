// The outbox over a state.
#pragma once

#include <memory>

#include "events/outbox.hpp"
#include "storage/state.hpp"

namespace herald::simulation {

std::unique_ptr<events::outbox> make_state_outbox(const storage::state_store&);

}  // namespace herald::simulation
