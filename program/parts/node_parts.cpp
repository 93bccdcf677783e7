#include "program/parts/node_parts.hpp"

#include <string>

#include "program/options/build_commit.hpp"
#include "program/parts/service_manager.hpp"
#include "runtime/http/limits.hpp"
#include "runtime/log.hpp"
#include "runtime/version.hpp"

namespace herald::program {

void log_that_it_runs(std::string_view event, const settings& chosen, const std::string& where) {
    const bool http = chosen.transport.http == runtime::http::client::plain_http::allowed;
    const std::string addresses =
        chosen.allowed_addresses.empty() ? "public" : "public," + chosen.allowed_addresses;
    runtime::log(runtime::log_level::info, event,
                 {{"version", runtime::version()},
                  {"commit", build_commit()},
                  {"address", where},
                  {"webhook_addresses", addresses},
                  {"webhook_http", http}});
    tell_service_manager("READY=1\nSTATUS=" + std::string(event) + (where.empty() ? "" : " at " + where));
}

runtime::http::server::server_options server_options_at(const settings& chosen, const endpoint& where,
                                                        std::size_t connections) {
    runtime::http::server::server_options options = chosen.server;
    options.address = where.address;
    options.port = where.port;
    options.bounds.connections = connections;
    options.bounds.connections_per_address = connections / limits::connections_share_of_address;
    return options;
}

}  // namespace herald::program
