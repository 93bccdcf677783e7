// Identifiers as separate types, so that a build's id cannot be passed as a webhook's.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>

namespace herald::schemas {

/// A number assigned by apply, starting at 1; 0 means "none". `Kind` only distinguishes the types.
template <class Kind>
struct id {
    std::uint64_t value = 0;

    explicit operator bool() const noexcept { return value != 0; }
    friend auto operator<=>(const id&, const id&) = default;
};

using organization_id = id<struct organization_kind>;
using user_id = id<struct user_kind>;
using group_id = id<struct group_kind>;
using role_id = id<struct role_kind>;
using workspace_id = id<struct workspace_kind>;
using model_id = id<struct model_kind>;
using version_id = id<struct version_kind>;
/// Also a transition's id: a transition is an activity.
using activity_id = id<struct activity_kind>;
using build_id = id<struct build_kind>;
using scan_id = id<struct scan_kind>;
using webhook_id = id<struct webhook_kind>;
using session_id = id<struct session_kind>;

/// 16 random bytes: the id of a command, a log, a node or a boot.
using uuid = std::array<std::uint8_t, 16>;

/// "<generation>-<32 hex digits>", the digits being a hash of (log id, generation, offset, place in the
/// command): the same on every node, and never reused (design.md §1).
using event_id = std::string;

}  // namespace herald::schemas

template <class Kind>
struct std::hash<herald::schemas::id<Kind>> {
    std::size_t operator()(const herald::schemas::id<Kind>& key) const noexcept {
        return std::hash<std::uint64_t>{}(key.value);
    }
};
