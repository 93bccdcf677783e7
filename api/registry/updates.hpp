// What updates of models and versions share: the members that they change, and those that they ignore.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "api/calls/handler.hpp"
#include "schemas/requests/request.hpp"

namespace herald::api::registry {

/// Names of the members that the body has: a PATCH changes only what is there.
inline std::vector<std::string> members_of(const schemas::json_value& body) {
    std::vector<std::string> names;
    if (const auto* members = body.get_if<schemas::json_object>())
        for (const auto& [name, value] : *members)
            if (!value.is_null()) names.push_back(name);
    return names;
}

/// The record inside the body of a PATCH …/full_body; {} if there is no record.
inline schemas::json_value record_in(const schemas::json_value& body, std::string_view name) {
    const schemas::json_value* record = body.find(name);
    return record && !record->is_null() ? *record : schemas::json_value(schemas::json_object{});
}

/// The members that a PATCH …/full_body replaces: those that the mask names, or without a mask those of the
/// record. The mask may name members that the server owns; they are ignored. Errors: invalid_argument for an
/// unknown name.
template <schemas::described Update>
result<std::vector<std::string>> members_to_replace(
    calls::reading_call& call, const schemas::json_value& record,
    const std::optional<schemas::requests::update_mask>& mask) {
    if (!mask) return members_of(record);
    const std::vector<std::string_view> known = schemas::requests::members_of<Update>();
    std::vector<calls::ignored_member> ignored;
    for (std::size_t i = 0; i < mask->paths.size(); ++i) {
        const std::string& path = mask->paths[i];
        if (std::ranges::count(known, path) > 0) continue;
        const auto owned = schemas::requests::server_owned_of<Update>();
        const auto found = std::ranges::find(owned, path, &schemas::requests::owned::name);
        if (found == owned.end()) {
            std::string names;
            for (const std::string_view name : known) names += " " + std::string(name);
            return runtime::invalid_argument(
                {"update_mask.paths[", i, "] is \"", path, "\"; it must be one of", names});
        }
        ignored.push_back({path, std::string(found->why)});
    }
    if (const auto good = call.ignore(ignored); !good) return good.error();
    return mask->paths;
}

/// A strict caller must get the refusal before anything is changed, so the newest row is compared. A repeat
/// is not refused what the first request did, whatever became of the row.
template <schemas::described Update, class RowOfPath, class View>
calls::task<> refuse_ignored(calls::writing_call& call, const schemas::json_value& record,
                             RowOfPath row_of_path, View view) {
    const auto now = co_await calls::read_state(call.with().registry, call.limit());
    if (!now) co_return now.error();
    const result<void> nothing;
    if (call.is_decided(*now->view)) co_return nothing;
    auto kept = row_of_path(call, *now->view);
    if (!kept) co_return kept.error();
    const auto [shown] = view(std::move(kept->row));
    co_return call.ignore_owned<Update>(record, shown);
}

/// Submits an update. Members of `record`, the record in the body, that the server owns are ignored.
/// `row_of_path` finds the row that the path names in a state; `view` makes the answer of it, whose only
/// member is the record.
template <schemas::described Update, schemas::commands::command_struct Command, class RowOfPath, class View>
calls::response write_update(calls::writing_call& call, const schemas::json_value& record, Command command,
                             RowOfPath row_of_path, View view) {
    using row = decltype(row_of_path(call, call.state())->row);
    if (call.is_strict())
        if (const auto good = co_await refuse_ignored<Update>(call, record, row_of_path, view); !good)
            co_return good.error();
    const auto view_and_ignore = [&](row updated) {
        auto answer = view(std::move(updated));
        const auto& [shown] = answer;
        if (!call.is_strict()) (void)call.ignore_owned<Update>(record, shown);
        return answer;
    };
    co_return co_await call.write<row>(std::move(command), view_and_ignore);
}

}  // namespace herald::api::registry
