// Deliveries that are sent again. Numbers 130 to 139.
#pragma once

#include "schemas/commands/envelope.hpp"
#include "schemas/deliveries.hpp"

namespace herald::schemas::commands {

/// → nothing. The sender then sends the delivery.
struct retry_delivery {
    static constexpr command_type type{130};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = false};

    schemas::event_id event_id;
    schemas::webhook_id webhook_id;

    HERALD_DESCRIBE(event_id, webhook_id);
};

/// → replay. workspace_id 0: that of the webhook, or else the caller's default workspace.
struct begin_replay {
    static constexpr command_type type{131};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = false};

    schemas::workspace_id workspace_id;
    replay_scope scope;

    HERALD_DESCRIBE(workspace_id, scope);
};

/// → replay. Pauses, resumes or cancels it.
struct set_replay_state {
    static constexpr command_type type{132};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = true};

    schemas::replay_id replay_id;
    replay_state state = replay_state::paused;

    HERALD_DESCRIBE(replay_id, state);
};

/// From the holder of the claim "replay". → nothing
struct report_replay {
    static constexpr command_type type{133};
    static constexpr command_traits traits{.level = 1, .from = sender::node, .passes_full_disk = true};

    schemas::replay_id replay_id;
    replay_progress progress;
    bool is_done = false;
    std::string failed_because;  // empty: it did not
    std::uint64_t token = 0;     // of the claim

    HERALD_DESCRIBE(replay_id, progress, is_done, failed_because, token);
};

using delivery_commands = command_list<retry_delivery, begin_replay, set_replay_state, report_replay>;

}  // namespace herald::schemas::commands
