// In the console's place, in a program that was built without it (HERALD_CONSOLE=OFF).
#include "api/calls/public_call.hpp"
#include "api/calls/rows.hpp"
#include "api/console/routes.hpp"

namespace herald::api::console {
namespace {

result<runtime::http::http_response> get_hint(const calls::public_call&) {
    runtime::http::http_response out;
    out.body =
        R"({"message":"this build of Herald has no console; deploy/dependencies run brings what a build with it needs",)"
        R"("addresses":["/api/openapi.json","/healthz","/readyz","/metrics"]})";
    return out;
}

const calls::route page_table[] = {[] {
    calls::route row =
        calls::rows::open("page_start", "/", get_hint, nullptr, "Says that there is no console");
    row.is_page = true;
    return row;
}()};

}  // namespace

std::span<const calls::route> page_routes() { return page_table; }

}  // namespace herald::api::console
