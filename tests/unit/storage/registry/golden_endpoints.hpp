// Of the golden log: endpoints, their stages, access tokens and updates. The chapters of their level.
#pragma once

#include "tests/unit/storage/registry/golden_story.hpp"

namespace herald::test {

/// Leaves an endpoint "/kept" with the id {1, 0, …}, its stage 1 with the default token 1.
void tell_of_endpoints(golden_writer&);
/// Builds that Herald makes, and updates of that stage; the last of the level.
void tell_of_updated_stages(golden_writer&);  // golden_updates.cpp

}  // namespace herald::test
