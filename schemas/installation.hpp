// What an operator sets for the whole installation, by options that are read when it begins or starts.
#pragma once

#include "schemas/enums.hpp"

namespace herald::schemas {

/// Who may create, change and delete webhooks.
enum class webhooks_by : std::uint8_t { system_admins, workspace_admins };
template <>
struct enum_names<webhooks_by> {
    static constexpr std::array<named<webhooks_by>, 2> all{
        {{webhooks_by::system_admins, "system-admins"}, {webhooks_by::workspace_admins, "workspace-admins"}}};
};

/// One row.
struct installation_settings {
    schemas::webhooks_by webhooks_by = schemas::webhooks_by::system_admins;

    HERALD_DESCRIBE(webhooks_by);
};

}  // namespace herald::schemas
