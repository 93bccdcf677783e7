// Feature flags of the installation (wire.md §7).
#include <array>

#include "api/operations/handlers.hpp"
#include "schemas/views.hpp"
#include "storage/registry/find/feature_flags.hpp"

namespace herald::api::operations {
namespace {

using calls::call;
using schemas::object_writer;
using schemas::commands::feature_flag;

constexpr std::array<std::string_view, 2> flag_names{"promote_events", "scan_events"};

struct flag_body {
    std::optional<bool> enabled;
    std::string content;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "enabled", self.enabled);
        field(2, "content", self.content);
    }
};

std::string flag_view(const feature_flag& flag) {
    return schemas::to_json_object(flag, schemas::integers::as_numbers);
}

}  // namespace

calls::answered list_feature_flags(call& call) {
    object_writer flags;
    for (const std::string_view name : flag_names) {
        const feature_flag flag = storage::registry::find::feature_flag_of(call.state(), name);
        flags.raw(name, flag_view(flag));
    }
    return call.answer(object_writer().raw("feature_flags", flags.finish()).finish());
}

calls::response set_feature_flag(call& call) {
    const auto body = call.body<flag_body>();
    if (!body) co_return body.error();
    // A flag is not switched off by a body that says nothing of it.
    if (!body->enabled) co_return runtime::invalid_argument("enabled is missing; it must be true or false");
    schemas::commands::set_feature_flag command;
    command.name = call.path("name");
    command.enabled = *body->enabled;
    command.content = body->content;
    const auto outcome = co_await call.submit(std::move(command));
    if (!outcome) co_return outcome.error();
    const auto flag = schemas::decode<feature_flag>(outcome->body);
    if (!flag) co_return flag.error();
    co_return call.answer(*outcome, flag_view(*flag));
}

}  // namespace herald::api::operations
