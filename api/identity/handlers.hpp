// Handlers of users, workspaces, organizations, groups and roles.
#pragma once

#include "api/calls/handler.hpp"

namespace herald::api::identity {

calls::answered verify_connection(calls::call&);
calls::response create_user(calls::call&);
calls::answered get_user(calls::call&);
calls::answered get_current_user(calls::call&);
calls::answered get_workspace_by_id(calls::call&);
calls::answered get_workspace_by_name(calls::call&);
calls::answered get_visible_workspaces(calls::call&);
calls::answered get_organization_by_name(calls::call&);
calls::answered list_organizations(calls::call&);
calls::answered list_groups(calls::call&);
calls::answered list_roles(calls::call&);
calls::response add_group_users(calls::call&);

}  // namespace herald::api::identity
