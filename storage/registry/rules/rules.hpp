// The rules of the registry: one function for each command, each a pure step on the state (design.md §1).
//
// A rule checks everything before it makes any change that would survive a refusal; on an error the engine
// drops all of the command's changes. The returned value is outcome.body: the binary form of the answer named
// in schemas/commands/. Each rule names the errors it can return; `unauthenticated` is the engine's.
#pragma once

#include "schemas/commands/all.hpp"
#include "storage/registry/context/rule_context.hpp"

namespace herald::storage::registry::rules {

using answer = result<std::string>;

// installation.cpp
answer apply(context::rule_context&, const schemas::commands::genesis&);
answer apply(context::rule_context&, const schemas::commands::renew_admin_key&);
answer apply(context::rule_context&, const schemas::commands::set_feature_flag&);
// nodes.cpp
answer apply(context::rule_context&, const schemas::commands::no_operation&);
answer apply(context::rule_context&, const schemas::commands::node_heartbeat&);
answer apply(context::rule_context&, const schemas::commands::claim&);
answer apply(context::rule_context&, const schemas::commands::raise_level&);
// users.cpp
answer apply(context::rule_context&, const schemas::commands::create_user&);
answer apply(context::rule_context&, const schemas::commands::add_group_users&);
// models.cpp
answer apply(context::rule_context&, const schemas::commands::create_model&);
// versions.cpp
answer apply(context::rule_context&, const schemas::commands::create_version&);
answer apply(context::rule_context&, const schemas::commands::update_version&);
// stages.cpp
answer apply(context::rule_context&, const schemas::commands::create_transition&);
answer apply(context::rule_context&, const schemas::commands::review_transition&);
answer apply(context::rule_context&, const schemas::commands::close_transition&);
answer apply(context::rule_context&, const schemas::commands::commit_transition&);
answer apply(context::rule_context&, const schemas::commands::fail_promotion&);
// builds.cpp
answer apply(context::rule_context&, const schemas::commands::create_build&);
// scans.cpp
answer apply(context::rule_context&, const schemas::commands::request_scan&);
answer apply(context::rule_context&, const schemas::commands::request_version_scan&);
answer apply(context::rule_context&, const schemas::commands::report_scan&);
// webhooks.cpp
answer apply(context::rule_context&, const schemas::commands::create_webhook&);
answer apply(context::rule_context&, const schemas::commands::delete_webhooks&);
answer apply(context::rule_context&, const schemas::commands::webhook_health&);

// Timers: `key` is what set_timer was given.
void fire_scan_deadline(context::rule_context&, std::string_view key);        // scans.cpp
void fire_outbox_trim(context::rule_context&, std::string_view key);          // nodes.cpp
void fire_node_silence(context::rule_context&, std::string_view key);         // nodes.cpp
void fire_webhook_change_trim(context::rule_context&, std::string_view key);  // webhooks.cpp
void fire_webhook_disable(context::rule_context&, std::string_view key);      // webhooks.cpp

}  // namespace herald::storage::registry::rules
