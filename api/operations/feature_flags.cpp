// Feature flags of the installation (wire.md §7).
#include "api/calls/rows.hpp"
#include "api/operations/routes.hpp"
#include "schemas/answers/operations.hpp"
#include "schemas/commands/installation.hpp"
#include "schemas/requests/operations.hpp"
#include "storage/registry/find/records.hpp"

namespace herald::api::operations {
namespace {

using namespace calls::rows;
using schemas::feature_flag;
using schemas::flag_name;

answers::feature_flag answer_of(feature_flag flag) { return {flag.enabled, std::move(flag.content)}; }

answered list_feature_flags(reading_call& call) {
    const auto flag = [&](flag_name name) {
        return answer_of(storage::registry::find::feature_flag_of(call.state(), name));
    };
    return call.answer(
        answers::feature_flags{{flag(flag_name::promote_events), flag(flag_name::scan_events)}});
}

response set_feature_flag(writing_call& call, requests::set_feature_flag body) {
    schemas::commands::set_feature_flag command;
    command.name = call.path("name");
    command.enabled = *body.enabled;
    command.content = body.content;
    co_return co_await call.write<feature_flag>(std::move(command), answer_of);
}

const calls::route feature_flag_table[] = {
    read<answers::feature_flags>("list_feature_flags", "/api/v1/uac-proxy/feature-flags", list_feature_flags,
                                 "feature flags", "All flags"),
    for_system_administrators(write<set_feature_flag, answers::feature_flag>(
        "set_feature_flag", http_method::put, "/api/v1/uac-proxy/feature-flags/{name}", "feature flags",
        "Switches a flag")),
};

}  // namespace

std::span<const calls::route> feature_flag_routes() { return feature_flag_table; }

}  // namespace herald::api::operations
