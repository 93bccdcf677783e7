// Every handler, by resource: one file each. A handler checks the form, appends or reads, and renders the
// answer; what the request means is decided in storage/rules (design.md §1). Errors are those of the rule or
// the read.
#pragma once

#include "api/call.hpp"

namespace herald::api::handlers {

/// A write (or a test): appends and waits.
using response = task<runtime::http_response>;
/// A read: call::state() and call::user() are set.
using answered = result<runtime::http_response>;

// identity.cpp
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

// models.cpp
response create_model(call&);
answered get_model_by_name(call&);
answered get_model(call&);
answered find_models(call&);

// versions.cpp
response create_version(call&);
answered get_version(call&);
answered get_version_by_names(call&);
answered find_versions(call&);
response patch_version(call&);
response put_version(call&);

// stages.cpp
response create_transition(call&);
response approve_transition(call&);
response reject_transition(call&);
response close_transition(call&);
response commit_transition(call&);
answered get_promotion(call&);
response fail_promotion(call&);

// builds.cpp
response create_build(call&);
answered get_build(call&);
answered list_builds(call&);

// scans.cpp
response request_scan(call&);
response request_version_scan(call&);
response report_scan(call&);
answered get_scan(call&);

// webhooks.cpp
response create_webhook(call&);
answered find_webhooks(call&);
response delete_webhooks(call&);
response trigger_test(call&);

// feature_flags.cpp
answered list_feature_flags(call&);
response set_feature_flag(call&);

}  // namespace herald::api::handlers
