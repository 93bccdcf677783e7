// What an operator sets for the whole installation, by options that are read when it begins or starts.
#pragma once

#include "schemas/describe.hpp"
#include "schemas/enums.hpp"

namespace herald::schemas {

/// Who may create, change and delete webhooks.
enum class webhooks_by : std::uint8_t { system_admins, workspace_admins };
template <>
inline constexpr auto enum_names<webhooks_by> = in_order<webhooks_by>("system-admins", "workspace-admins");

/// One row.
struct installation_settings {
    schemas::webhooks_by webhooks_by = schemas::webhooks_by::system_admins;

    HERALD_DESCRIBE(webhooks_by);
};

}  // namespace herald::schemas
