// What the lock of a version forbids, and to whom (wire.md "Lock levels"). The one table of it:
//
//                    OPEN      REDACT              CLOSED
//   what it is made of, the bytes of its artifacts, the version itself
//                    anybody   workspace admins    nobody
//   everything else  anybody   anybody             anybody
//
// where anybody is who has the permission for it.
#pragma once

#include "storage/registry/access/access.hpp"

namespace herald::storage::registry::access {

/// The part of a version that a command is about to change.
enum class touched : std::uint8_t {
    nothing_locked,
    ingredients,  // attributes, artifacts, environment, datasets, code
    bytes,        // of artifacts
    whole         // the version is to be deleted
};

/// The version as errors name it.
std::string named(const schemas::model_version&);

/// Errors: permission_denied under CLOSED.
result<void> check_not_closed(const schemas::model_version&, touched);
/// Errors: permission_denied under REDACT, for all but workspace admins.
result<void> check_not_redact(const state::state_view&, schemas::user_id,
                              const placed<schemas::model_version>&, touched);
/// Both, and between them the permission for it: DELETE for the whole, else UPDATE. Errors:
/// permission_denied by CLOSED, without the permission, and by REDACT, in this order.
result<void> require_unlocked(const state::state_view&, schemas::user_id,
                              const placed<schemas::model_version>&, touched);

}  // namespace herald::storage::registry::access
