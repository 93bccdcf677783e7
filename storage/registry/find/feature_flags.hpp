// What an operator has switched on or off.
#pragma once

#include "storage/registry/tables/feature_flags.hpp"

namespace herald::storage::registry::find {

/// On, and without content, until somebody sets it.
schemas::feature_flag feature_flag_of(const state::state_view&, schemas::flag_name);

}  // namespace herald::storage::registry::find
