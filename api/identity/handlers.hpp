// Handlers of users, workspaces, organizations, groups and roles.
#pragma once

#include "api/calls/handler.hpp"

namespace herald::api::identity {

// users.cpp
calls::answered verify_connection(calls::reading_call&);
calls::response create_user(calls::writing_call&);
calls::answered get_user(calls::reading_call&);
calls::answered get_current_user(calls::reading_call&);

// workspaces.cpp
calls::answered get_workspace_by_id(calls::reading_call&);
calls::answered get_workspace_by_name(calls::reading_call&);
calls::answered get_visible_workspaces(calls::reading_call&);

// organizations.cpp
calls::answered get_organization_by_name(calls::reading_call&);
calls::answered list_organizations(calls::reading_call&);
calls::answered list_groups(calls::reading_call&);
calls::answered list_roles(calls::reading_call&);
calls::response add_group_users(calls::writing_call&);

}  // namespace herald::api::identity
