// A build that is scanned, and a webhook that hears of it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/support/registry.hpp"

namespace herald::test {

class scan_rules : public testing::Test {
  protected:
    using scan_status = schemas::scan_status;
    using safety_status = schemas::safety_status;

    registry registry;
    schemas::webhook hook = registry.webhook_for({schemas::event_type::request_scan});
    schemas::model_version version = registry.version_named("v1", registry.model_named("m").id);
    schemas::build build = make_build("registry.example.org/m:1");

    schemas::build make_build(const std::string& location) {
        schemas::commands::create_build command;
        command.workspace_name = "default";
        command.model_version_id = version.id;
        command.external_location = location;
        command.creator_request.text = "{}";
        return registry.must<schemas::build>(command);
    }
    schemas::build build_now() {
        return *find_row<schemas::build>(
            *registry.view(),
            storage::registry::tables::key_of(storage::registry::tables::table::build).number(build.id));
    }
    schemas::commands::outcome request(schemas::build_id id) {
        schemas::commands::request_scan command;
        command.workspace_name = "default";
        command.build_id = id;
        return registry.run(command);
    }
    schemas::commands::outcome report(scan_status status, safety_status safety) {
        schemas::commands::report_scan command;
        command.workspace_name = "default";
        command.build_id = build.id;
        command.scan_status = status;
        command.safety_status = safety;
        command.url = "https://example.org/report";
        return registry.run(command);
    }
};

}  // namespace herald::test
