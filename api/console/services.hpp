// What the console's handlers need besides their calls.
#pragma once

#include "api/console/sign_in_codes.hpp"

namespace herald::api::console {

/// As calls::services.
struct services {
    sign_in_codes* codes = nullptr;  // null: this node hands out none
};

}  // namespace herald::api::console
