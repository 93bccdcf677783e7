#include "api/deployment/endpoint_paths.hpp"

#include "runtime/crypto.hpp"
#include "schemas/commands/endpoints.hpp"

namespace herald::api::deployment {

using calls::reading_call;
namespace access = storage::registry::access;

result<schemas::uuid> endpoint_in_path(const reading_call& call) {
    const std::string text = call.path("endpoint");
    if (const auto id = runtime::parse_uuid(text)) return *id;
    return runtime::not_found({"\"", text, "\" is not the id of an endpoint: expected a UUID"});
}

result<access::placed<schemas::endpoint>> endpoint_to_show(const reading_call& call) {
    const auto id = endpoint_in_path(call);
    if (!id) return id.error();
    return access::readable_endpoint(call.state(), call.user().id, call.path("workspace"), *id);
}

result<access::placed_stage> stage_to_show(const reading_call& call) {
    const auto id = endpoint_in_path(call);
    if (!id) return id.error();
    const auto stage = call.path_id<schemas::endpoint_stage_id>("stage");
    if (!stage) return stage.error();
    return access::readable_stage(call.state(), call.user().id, call.path("workspace"), *id, *stage);
}

schemas::commands::new_access_token sealed_token(const calls::services& with, const std::string& value) {
    schemas::commands::new_access_token token;
    token.hash = runtime::as_bytes(runtime::sha256(value));
    token.seal_binding = "access token:" + runtime::uuid_text(with.random.uuid());
    token.sealed_value = with.keys.seal(token.seal_binding, value, with.random);
    return token;
}

result<std::string> minted_token(const calls::services& with) {
    const schemas::uuid source = with.random.uuid();
    return with.keys.mint(with.keys.current_name(), runtime::as_bytes(source), "access token");
}

}  // namespace herald::api::deployment
