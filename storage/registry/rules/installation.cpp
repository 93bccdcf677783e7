// GENESIS, and what an operator sets for the whole installation.
#include "storage/registry/tables/installation.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/organizations.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/tables/feature_flags.hpp"
#include "storage/registry/tables/groups.hpp"
#include "storage/registry/tables/users.hpp"

namespace herald::storage::registry::rules {
namespace {

constexpr std::int64_t day_ms = 24ll * 3'600'000;

/// The rows come with restore_rows.
answer continue_parent(rule_context& context, const schemas::commands::genesis& command) {
    tables::installation::put(context.state, command);
    tables::put_level(context.state, command.level);
    tables::restoring::put(context.state, {});
    return std::string();
}

}  // namespace

/// Errors: failed_precondition for a second GENESIS; invalid_argument for one without event partitions or
/// without the administrator's UUID.
answer apply(rule_context& context, const schemas::commands::genesis& command) {
    state::state_changes& state = context.state;
    if (tables::installation::has(state))
        return runtime::failed_precondition("this log has its GENESIS already");
    if (command.event_partitions == 0)
        return runtime::invalid_argument("event_partitions is 0; events need 1 or more");
    if (!command.parent_log_id.empty()) return continue_parent(context, command);
    if (command.admin_uuid == schemas::uuid{}) return runtime::invalid_argument("admin_uuid is missing");
    tables::installation::put(state, command);
    if (command.level > schemas::commands::first_level) tables::put_level(state, command.level);

    const founded_organization founded =
        found_organization(context, command.organization_name, command.require_approval_for);

    schemas::user admin;
    admin.id = context.next_id<schemas::user_id>("user");
    admin.email = admin.username = command.admin_email;
    admin.primary_key_hash = command.admin_key_hash;
    admin.user_uuid = command.admin_uuid;
    admin.system_admin = true;
    admin.default_workspace_id = founded.workspace.id;
    admin.time_created = context.stamp_ms();
    tables::users::put(state, admin);
    tables::members::put(state, founded.admins.id, admin.id);
    tables::members::put(state, founded.all_users.id, admin.id);
    context.set_timer(context.time_ms() + day_ms, context::timer_kind::outbox_trim, "");
    return std::string();
}

/// Errors: not_found when no system administrator has that e-mail.
answer apply(rule_context& context, const schemas::commands::renew_admin_key& command) {
    const auto id = tables::users::with_email(context.state, command.email);
    auto user = id ? tables::users::find(context.state, *id) : std::nullopt;
    if (!user || !user->system_admin)
        return runtime::not_found({"no system administrator has the e-mail \"", command.email, "\""});
    user->primary_key_hash = command.key_hash;
    user->secondary_key_hash.clear();
    end_sessions(context, user->id);
    tables::users::put(context.state, *user);
    return schemas::encode(*user);
}

answer apply(rule_context& context, const schemas::commands::set_webhooks_by& command) {
    schemas::installation_settings row = tables::installation_settings::find(context.state);
    row.webhooks_by = command.webhooks_by;
    tables::installation_settings::put(context.state, row);
    return std::string();
}

/// Errors: permission_denied; not_found for a flag that Herald does not have.
answer apply(rule_context& context, const schemas::commands::set_feature_flag& command) {
    if (const auto may =
            access::require_system_admin(context.state, context.principal(), "setting a feature flag");
        !may)
        return may.error();
    if (!schemas::from_name<flag_name>(command.name)) {
        std::string all;
        for (const auto& [flag, name] : schemas::enum_names<flag_name>)
            all += (all.empty() ? "" : ", ") + std::string(name);
        return runtime::not_found({"there is no feature flag \"", command.name, "\"; there are ", all});
    }
    if (const auto good = check_text("content", command.content, limits::flag_content_bytes_max); !good)
        return good.error();
    const schemas::feature_flag flag{command.name, command.enabled, command.content};
    tables::feature_flags::put(context.state, flag);
    return schemas::encode(flag);
}

runner runner_of(schemas::commands::command_type type, schemas::commands::installation_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
