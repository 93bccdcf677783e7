// Of the golden log: endpoints, their stages and access tokens. The first of their level.
#pragma once

#include "tests/unit/storage/registry/golden_story.hpp"

namespace herald::test {

/// Leaves an endpoint "/kept" with the id {1, 0, …}, its stage 1 with the default token 1.
void tell_of_endpoints(golden_writer&);

}  // namespace herald::test
