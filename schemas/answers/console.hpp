// What the console's own calls answer (api/console/).
#pragma once

#include <optional>

#include "schemas/answers/answer.hpp"
#include "schemas/answers/identity.hpp"

namespace herald::schemas::answers {

/// Who is signed in; {} when nobody is.
struct console_session {
    std::optional<user> info;
    std::optional<std::int64_t> time_expires;  // only in the answer to the sign-in

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "info", self.info, shown::when_set);
        field(2, "time_expires", self.time_expires, shown::when_set);
    }
};

/// Good for one sign-in.
struct console_code {
    std::string code;
    std::int64_t time_expires = 0;

    HERALD_DESCRIBE(code, time_expires);
};

/// What the caller may do in a workspace.
struct permissions {
    std::vector<resource_actions> actions;
    bool is_admin = false;      // a workspace admin
    bool system_admin = false;  // of the installation
    bool reports_scans = false;
    bool changes_webhooks = false;

    HERALD_DESCRIBE(actions, is_admin, system_admin, reports_scans, changes_webhooks);
};

}  // namespace herald::schemas::answers
