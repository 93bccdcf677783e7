// What the handlers of this room share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "api/calls/finding.hpp"
#include "api/calls/handler.hpp"
#include "schemas/answers/identity.hpp"
#include "storage/registry/find/directory.hpp"

namespace herald::api::identity {

/// The organisation of the path, which the caller belongs to; else not_found.
inline result<schemas::organization> organization_of(const calls::reading_call& call) {
    const auto id = call.path_id<schemas::organization_id>("org");
    if (!id) return id.error();
    auto found = storage::registry::find::organization_of(call.state(), call.user().id, *id);
    if (!found) return runtime::not_found({"organization ", call.path("org"), " not found"});
    return *std::move(found);
}

/// The page of the organisation's rows that the query asks for. `Search` finds them.
template <class Answer, auto Search, class View>
calls::slicing list_of_organization(calls::reading_call& call, View view) {
    const auto organization = organization_of(call);
    if (!organization) return organization.error();
    const auto page = calls::page_in_query(call);
    if (!page) return page.error();
    return calls::answer_in_slices<Answer>(call, Search(call.state(), organization->id, *page), view);
}

inline constexpr auto as_it_is = [](auto row) { return row; };

/// What the server owns of a role or a workspace.
struct owned_of_record {
    bool built_in = false;
    std::int64_t time_created = 0;
    std::int64_t time_updated = 0;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "built_in", self.built_in);
        field(2, "created_timestamp", self.time_created);
        field(3, "updated_timestamp", self.time_updated);
    }
};

/// Of the object in this member of the body: what the server owns is ignored and reported (wire.md §1) where
/// it differs from `kept`, the record as it is or will be.
template <schemas::described Request, schemas::described Kept>
result<void> ignore_owned_in(calls::reading_call& call, std::string_view member, const Kept& kept) {
    const auto body = call.json();
    if (!body) return body.error();
    const schemas::json_value* inner = body->find(member);
    return inner ? call.ignore_owned<Request>(*inner, kept) : result<void>();
}

/// The same of a record of an organisation, which the path names.
template <schemas::described Kept, schemas::described Request>
result<void> ignore_owned_of(calls::reading_call& call, std::string_view member, const Request& sent,
                             schemas::organization_id org, const std::optional<Kept>& kept) {
    if (sent.org_id && sent.org_id != org)
        if (const auto good = call.ignore(
                {{std::string(member) + ".org_id", "differs from the organization of the path, " +
                                                       std::to_string(org.value) + ", which counts"}});
            !good)
            return good;
    return ignore_owned_in<Request>(call, member, kept.value_or(Kept{}));
}

/// Ends something of an organisation; the path names both, and `Id` is the command's member for the thing.
template <class Command, auto Id, class Answer>
calls::response end_in_organization(calls::writing_call& call, std::string_view named, Answer answer) {
    Command command;
    const auto org = call.path_id<schemas::organization_id>("org");
    if (!org) co_return org.error();
    const auto id = call.path_id<std::remove_cvref_t<decltype(command.*Id)>>(named);
    if (!id) co_return id.error();
    command.org_id = *org;
    command.*Id = *id;
    co_return co_await call.write(std::move(command), std::move(answer));
}

/// The user whom a command changed, as reads now show them: with the default workspace in force.
inline schemas::user shown_now(const calls::writing_call& call, schemas::user changed) {
    const auto applied = call.with().registry.read_now(storage::node::freshness::applied);
    return storage::registry::find::as_shown(applied ? *applied->view : call.state(), std::move(changed));
}

/// What developer keys are minted for.
inline constexpr std::string_view key_purpose = "developer-key";

}  // namespace herald::api::identity
