// What the members of bodies mean, for the OpenAPI document: a name means the same wherever it stands. A
// member that only one type has is explained there instead, by its `meanings` (schemas/json_schema.hpp).
#pragma once

#include <cstddef>
#include <string_view>

namespace herald::schemas {

struct meaning {
    std::string_view name;
    std::string_view text;
    std::size_t bytes_max = 0;  // for a text that is sent, or each text in a list; 0: set by the body's type
};

/// Null for a name that no body has.
const meaning* meaning_of(std::string_view name);

}  // namespace herald::schemas
