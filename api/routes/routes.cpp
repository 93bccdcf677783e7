// The flat table of routes (wire.md), put together from the rows of each file of handlers. One row a method
// and path; several paths may lead to one handler.
#include "api/routes/routes.hpp"

#include <array>
#include <vector>

#include "api/console/routes.hpp"
#include "api/deployment/routes.hpp"
#include "api/identity/routes.hpp"
#include "api/operations/routes.hpp"
#include "api/registry/routes.hpp"
#include "api/webhooks/routes.hpp"

namespace herald::api::routes {
namespace {

using calls::route;
using table_of_file = std::span<const route> (*)();

std::vector<route> put_together() {
    std::vector<route> all;
    const auto add = [&](std::span<const table_of_file> tables) {
        for (const table_of_file table : tables) {
            const std::span<const route> rows = table();
            all.insert(all.end(), rows.begin(), rows.end());
        }
    };
    add(operations::tables);
    add(identity::tables);
    add(registry::tables);
    add(deployment::tables);
    add(webhooks::tables);
    add(std::array{operations::feature_flag_routes, operations::audit_routes, operations::backup_routes});
    add(console::tables);
    return all;
}

}  // namespace

std::span<const route> all_routes(metrics_here metrics_too) {
    static const std::vector<route> table =
        put_together();  // /metrics is the first: some nodes do not have it
    return std::span(table).subspan(metrics_too == metrics_here::yes ? 0 : 1);
}
std::span<const route> operator_routes() { return operations::operator_routes(); }

}  // namespace herald::api::routes
