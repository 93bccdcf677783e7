// Registered models. Numbers 20 to 29, shared with versions.
#pragma once

#include "schemas/commands/envelope.hpp"
#include "schemas/registry.hpp"

namespace herald::schemas::commands {

/// → registered_model. Only the fields a client may set are read from `model`.
struct create_model {
    static constexpr command_type type{20};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = false};

    std::string workspace_name;
    registered_model model;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "workspace_name", self.workspace_name);
        field(2, "model", self.model);
    }
};

}  // namespace herald::schemas::commands
