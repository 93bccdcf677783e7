// The rules of the registry: one function for each command, each a pure step on the state (design.md §1).
//
// A rule checks everything before it changes anything that outlives a refusal: on an error the engine drops
// all of the command's changes. The value is outcome.body: the binary form of the answer named in
// schemas/commands/. Each rule names the errors it can return; `unauthenticated` is the engine's.
#pragma once

#include "schemas/commands/all.hpp"
#include "storage/registry/context/rule_context.hpp"

namespace herald::storage::rules {

using answer = result<std::string>;

// installation.cpp
answer apply(rule_context&, const schemas::genesis&);
answer apply(rule_context&, const schemas::renew_admin_key&);
answer apply(rule_context&, const schemas::set_feature_flag&);
// nodes.cpp
answer apply(rule_context&, const schemas::no_operation&);
answer apply(rule_context&, const schemas::node_heartbeat&);
answer apply(rule_context&, const schemas::claim&);
answer apply(rule_context&, const schemas::raise_level&);
// users.cpp
answer apply(rule_context&, const schemas::create_user&);
answer apply(rule_context&, const schemas::add_group_users&);
// models.cpp
answer apply(rule_context&, const schemas::create_model&);
// versions.cpp
answer apply(rule_context&, const schemas::create_version&);
answer apply(rule_context&, const schemas::update_version&);
// stages.cpp
answer apply(rule_context&, const schemas::create_transition&);
answer apply(rule_context&, const schemas::review_transition&);
answer apply(rule_context&, const schemas::close_transition&);
answer apply(rule_context&, const schemas::commit_transition&);
answer apply(rule_context&, const schemas::fail_promotion&);
// builds.cpp
answer apply(rule_context&, const schemas::create_build&);
// scans.cpp
answer apply(rule_context&, const schemas::request_scan&);
answer apply(rule_context&, const schemas::request_version_scan&);
answer apply(rule_context&, const schemas::report_scan&);
// webhooks.cpp
answer apply(rule_context&, const schemas::create_webhook&);
answer apply(rule_context&, const schemas::delete_webhooks&);
answer apply(rule_context&, const schemas::webhook_health&);

// Timers: `key` is what set_timer was given.
void fire_scan_deadline(rule_context&, std::string_view key);        // scans.cpp
void fire_outbox_trim(rule_context&, std::string_view key);          // nodes.cpp
void fire_node_silence(rule_context&, std::string_view key);         // nodes.cpp
void fire_webhook_change_trim(rule_context&, std::string_view key);  // webhooks.cpp
void fire_webhook_disable(rule_context&, std::string_view key);      // webhooks.cpp

}  // namespace herald::storage::rules
