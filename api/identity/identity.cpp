// Users, groups, organisations and workspaces (wire.md §2, client_calls.md §1).
#include "schemas/answers/identity.hpp"
#include "api/identity/handlers.hpp"
#include "runtime/crypto.hpp"
#include "runtime/key_ring.hpp"
#include "runtime/text.hpp"
#include "schemas/requests/identity.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/directory.hpp"

namespace herald::api::identity {
namespace {

using calls::answered;
using calls::reading_call;
using calls::response;
using calls::writing_call;
namespace answers = schemas::answers;
namespace requests = schemas::requests;

constexpr std::string_view key_purpose = "developer-key";

/// The organisation in the path, if the caller belongs to it; otherwise not_found.
result<schemas::organization> organization_of(const reading_call& call,
                                              const storage::registry::state::state_view& state,
                                              schemas::user_id user) {
    const auto id = call.path_id<schemas::organization_id>("org");
    if (!id) return id.error();
    auto found = storage::registry::find::organization_of(state, user, *id);
    if (!found) return runtime::not_found("organization " + call.path("org") + " not found");
    return *std::move(found);
}

result<schemas::workspace> visible(const storage::registry::state::state_view& state, schemas::user_id user,
                                   std::optional<schemas::workspace> found, const std::string& what) {
    if (found && storage::registry::access::is_visible(state, user, *found)) return *std::move(found);
    return runtime::not_found("workspace " + what + " not found");
}

std::optional<schemas::workspace> named(const storage::registry::state::state_view& state,
                                        const std::string& name) {
    auto found = storage::registry::access::workspace_named(state, name);
    if (!found) return std::nullopt;
    return *std::move(found);
}

}  // namespace

answered verify_connection(reading_call& call) { return call.answer(answers::connection{true}); }

response create_user(writing_call& call) {
    const auto body = call.body<requests::create_user>();
    if (!body) co_return body.error();
    schemas::commands::create_user command;
    command.email = body->info->email;
    command.full_name = body->info->full_name;
    if (body->info->verta_info) command.username = body->info->verta_info->username;
    command.key_name = call.with().keys.current_name();
    command.user_uuid = call.with().random.uuid();
    const auto outcome = co_await call.submit_minting(command, key_purpose);
    if (!outcome) co_return outcome.error();
    const auto user = schemas::decode<schemas::user>(outcome->body);
    if (!user) co_return user.error();
    const auto key = call.minted(*outcome, key_purpose);
    if (!key) co_return key.error();
    answers::user_info answer{answers::of(*user)};
    answer.info.dev_key = *key;
    co_return call.answer(*outcome, answer);
}

answered get_user(reading_call& call) {
    const storage::registry::state::state_view& state = call.state();
    const std::string email = call.query("email");
    const auto user = storage::registry::find::user_with_email(state, email);
    if (!user) return runtime::not_found("user with the e-mail \"" + email + "\" not found");
    return call.answer(answers::of(*user));
}

answered get_current_user(reading_call& call) { return call.answer(answers::of(call.user())); }

answered get_workspace_by_id(reading_call& call) {
    const auto id = call.query_number("id");
    if (!id) return id.error();
    const storage::registry::state::state_view& state = call.state();
    const auto found = visible(state, call.user().id,
                               storage::registry::access::find_workspace(state, schemas::workspace_id{*id}),
                               std::to_string(*id));
    if (!found) return found.error();
    return call.answer(answers::of(*found));
}

answered get_workspace_by_name(reading_call& call) {
    const std::string name = call.query("name");
    const storage::registry::state::state_view& state = call.state();
    const auto found = visible(state, call.user().id, named(state, name), "\"" + name + "\"");
    if (!found) return found.error();
    return call.answer(answers::of(*found));
}

answered get_visible_workspaces(reading_call& call) {
    auto seen = storage::registry::find::visible_workspaces(call.state(), call.user().id);
    answers::workspaces answer;
    for (schemas::workspace& row : seen) answer.workspace.push_back(answers::of(std::move(row)));
    answer.total_records = seen.size();
    return call.answer(answer);
}

/// 200 for the name of an organisation's workspace (or of the organisation itself), 404 for a personal one
/// (client_calls.md §1).
answered get_organization_by_name(reading_call& call) {
    const std::string name = call.query("org_name");
    const storage::registry::state::state_view& state = call.state();
    const auto workspace = named(state, name);
    const bool shared = workspace && workspace->org_id &&
                        storage::registry::access::is_visible(state, call.user().id, *workspace);
    if (!shared) return runtime::not_found("organization \"" + name + "\" not found");
    return call.answer(answers::organization_answer{{workspace->org_id, name}});
}

answered list_organizations(reading_call& call) {
    auto seen = storage::registry::find::organizations_of(call.state(), call.user().id);
    const std::size_t count = seen.size();
    return call.answer(answers::organizations{std::move(seen), count});
}

answered list_groups(reading_call& call) {
    const storage::registry::state::state_view& state = call.state();
    const auto organization = organization_of(call, state, call.user().id);
    if (!organization) return organization.error();
    auto groups = storage::registry::find::groups_of(state, organization->id);
    const std::size_t count = groups.size();
    return call.answer(answers::groups{std::move(groups), count});
}

answered list_roles(reading_call& call) {
    const storage::registry::state::state_view& state = call.state();
    const auto organization = organization_of(call, state, call.user().id);
    if (!organization) return organization.error();
    auto roles = storage::registry::find::roles_of(state, organization->id);
    const std::size_t count = roles.size();
    return call.answer(answers::roles{std::move(roles), count});
}

response add_group_users(writing_call& call) {
    const auto body = call.body<requests::add_group_users>();
    if (!body) co_return body.error();
    const auto org = call.path_id<schemas::organization_id>("org");
    if (!org) co_return org.error();
    const auto group = call.path_id<schemas::group_id>("group");
    if (!group) co_return group.error();
    schemas::commands::add_group_users command;
    command.org_id = *org;
    command.group_id = *group;
    command.user_id = body->user_id;
    const auto view = [](schemas::group added) { return answers::group_answer{std::move(added)}; };
    co_return co_await call.write<schemas::group>(std::move(command), view);
}

}  // namespace herald::api::identity
