// Feature flags of the installation (wire.md §7).
#include "api/operations/handlers.hpp"
#include "schemas/answers/operations.hpp"
#include "schemas/requests/operations.hpp"
#include "storage/registry/tables/tables.hpp"

namespace herald::api::operations {
namespace {

using calls::call;
namespace answers = schemas::answers;
namespace requests = schemas::requests;
using schemas::commands::feature_flag;

answers::feature_flag answer_of(feature_flag flag) { return {flag.enabled, std::move(flag.content)}; }

}  // namespace

calls::answered list_feature_flags(call& call) {
    const auto flag = [&](std::string_view name) {
        const auto row = storage::registry::tables::find_row<feature_flag>(
            call.state(),
            storage::registry::tables::key_of(storage::registry::tables::table::feature_flag).text(name));
        return answer_of(row.value_or(feature_flag()));
    };
    return call.answer(answers::feature_flags{{flag("promote_events"), flag("scan_events")}});
}

calls::response set_feature_flag(call& call) {
    const auto body = call.body<requests::set_feature_flag>();
    if (!body) co_return body.error();
    schemas::commands::set_feature_flag command;
    command.name = call.path("name");
    command.enabled = *body->enabled;
    command.content = body->content;
    const auto outcome = co_await call.submit(std::move(command));
    if (!outcome) co_return outcome.error();
    const auto flag = schemas::decode<feature_flag>(outcome->body);
    if (!flag) co_return flag.error();
    co_return call.answer(*outcome, answer_of(*flag));
}

}  // namespace herald::api::operations
