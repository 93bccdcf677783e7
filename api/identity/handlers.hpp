// Handlers of users, workspaces, organizations, groups and roles.
#pragma once

#include "api/calls/handler.hpp"

namespace herald::api::handlers {

answered verify_connection(call&);
response create_user(call&);
answered get_user(call&);
answered get_current_user(call&);
answered get_workspace_by_id(call&);
answered get_workspace_by_name(call&);
answered get_visible_workspaces(call&);
answered get_organization_by_name(call&);
answered list_organizations(call&);
answered list_groups(call&);
answered list_roles(call&);
response add_group_users(call&);

}  // namespace herald::api::handlers
