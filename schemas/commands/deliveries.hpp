// Deliveries that are sent again. Numbers 130 to 139.
#pragma once

#include "schemas/commands/envelope.hpp"
#include "schemas/deliveries.hpp"

namespace herald::schemas::commands {

/// → nothing. The sender then sends the delivery.
struct retry_delivery {
    static constexpr command_type type{130};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = false};

    event_for_webhook delivery;

    static constexpr void describe(auto& self, auto&& field) { field(1, "delivery", self.delivery); }
};

/// → replay. workspace_id 0: that of the webhook, or else the caller's default workspace.
struct begin_replay {
    static constexpr command_type type{131};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = false};

    schemas::workspace_id workspace_id;
    replay_scope scope;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "workspace_id", self.workspace_id);
        field(2, "scope", self.scope);
    }
};

/// → replay. Pauses, resumes or cancels it.
struct set_replay_state {
    static constexpr command_type type{132};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = true};

    schemas::replay_id replay_id;
    replay_state state = replay_state::paused;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "replay_id", self.replay_id);
        field(2, "state", self.state);
    }
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

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "replay_id", self.replay_id);
        field(2, "progress", self.progress);
        field(3, "is_done", self.is_done);
        field(4, "failed_because", self.failed_because);
        field(5, "token", self.token);
    }
};

using delivery_commands = command_list<retry_delivery, begin_replay, set_replay_state, report_replay>;

}  // namespace herald::schemas::commands
