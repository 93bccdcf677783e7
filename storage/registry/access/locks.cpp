#include "storage/registry/access/locks.hpp"

namespace herald::storage::registry::access {

std::string named(const schemas::model_version& version) {
    return "model version " + std::to_string(version.id.value);
}

result<void> check_not_closed(const schemas::model_version& version, touched what) {
    if (version.lock_level != schemas::lock_level::closed) return {};
    switch (what) {
        case touched::nothing_locked:
            return {};
        case touched::ingredients:
            return runtime::permission_denied(
                {named(version),
                 " is CLOSED: its attributes, artifacts, environment, datasets and code are locked for "
                 "changes"});
        case touched::bytes:
            return runtime::permission_denied(
                {named(version), " is CLOSED: the bytes of its artifacts are locked for changes"});
        case touched::whole:
            return runtime::permission_denied(
                {named(version), " is CLOSED: it is locked for changes and cannot be deleted"});
    }
    return {};
}

result<void> check_not_redact(const state::state_view& state, schemas::user_id user,
                              const placed<schemas::model_version>& found, touched what) {
    const schemas::model_version& version = found.row;
    if (version.lock_level != schemas::lock_level::redact || what == touched::nothing_locked ||
        is_workspace_admin(state, user, found.workspace))
        return {};
    switch (what) {
        case touched::nothing_locked:
            return {};
        case touched::ingredients:
            return runtime::permission_denied(
                {named(version), " is REDACT: only a workspace admin may change what it is made of"});
        case touched::bytes:
            return runtime::permission_denied(
                {named(version), " is REDACT: only a workspace admin may change the bytes of its artifacts"});
        case touched::whole:
            return runtime::permission_denied(
                {named(version), " is REDACT: only a workspace admin may delete it"});
    }
    return {};
}

result<void> require_unlocked(const state::state_view& state, schemas::user_id user,
                              const placed<schemas::model_version>& found, touched what) {
    if (const auto open = check_not_closed(found.row, what); !open) return open;
    const schemas::action wanted =
        what == touched::whole ? schemas::action::delete_ : schemas::action::update;
    if (const auto may = require(state, user, found.workspace, schemas::protected_type::registered_model,
                                 wanted, "model version");
        !may)
        return may;
    return check_not_redact(state, user, found, what);
}

}  // namespace herald::storage::registry::access
