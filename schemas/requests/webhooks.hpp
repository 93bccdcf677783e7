// Bodies about webhooks (wire.md §7, spec.md §4.2-4.3).
#pragma once

#include "schemas/requests/request.hpp"
#include "schemas/webhooks.hpp"

namespace herald::schemas::requests {

struct create_webhook {
    webhook_settings settings;
    std::string mutual_secret;
    schemas::workspace_id workspace_id;  // 0: the caller's default workspace

    using shown_inline = webhook_settings;
    static constexpr std::array<std::string_view, 2> required{"name", "location"};
    static constexpr std::string_view example =
        R"({"name":"rollout","location":"https://rollout.example.com/promote","event_types":["PROMOTE"]})";
    static constexpr void describe(auto& self, auto&& field) {
        webhook_settings::describe(self.settings, field);
        field(30, "mutual_secret", self.mutual_secret);
        field(31, "workspace_id", self.workspace_id);
    }
};

/// An empty list selects nothing.
struct find_webhooks {
    std::vector<schemas::webhook_id> ids;
    std::vector<std::string> names;
    std::vector<schemas::workspace_id> workspace_id;
    std::vector<resource_filter> resource_types;

    static constexpr std::string_view example = R"({"names":["rollout"]})";
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "ids", self.ids);
        field(2, "names", self.names);
        field(3, "workspace_id", self.workspace_id);
        field(4, "resource_types", self.resource_types);
    }
};

struct delete_webhooks {
    std::vector<webhook_id> ids;

    static constexpr std::string_view example = R"({"ids":[1]})";
    static constexpr void describe(auto& self, auto&& field) { field(1, "ids", self.ids); }
};

struct trigger_test {
    schemas::webhook_id webhook_id;

    static constexpr std::array<std::string_view, 1> required{"webhook_id"};
    static constexpr std::string_view example = R"({"webhook_id":1})";
    static constexpr void describe(auto& self, auto&& field) { field(1, "webhook_id", self.webhook_id); }
};

}  // namespace herald::schemas::requests
