// The parts of Herald that an administrator can switch off for the whole installation (wire.md §7 "Feature
// flags").
#pragma once

#include "schemas/describe.hpp"

namespace herald::schemas {

/// The flags that there are.
enum class flag_name : std::uint8_t { promote_events, scan_events };

/// A flag that somebody has set.
struct feature_flag {
    std::string name;
    bool enabled = true;
    std::string content;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "name", self.name, shown::never);
        field(2, "enabled", self.enabled);
        field(3, "content", self.content);
    }
};

template <>
inline constexpr auto enum_names<flag_name> = in_order<flag_name>("promote_events", "scan_events");

}  // namespace herald::schemas
