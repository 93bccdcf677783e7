// Handlers of builds and their scans.
#pragma once

#include "api/calls/handler.hpp"

namespace herald::api::handlers {

// builds.cpp
response create_build(call&);
answered get_build(call&);
answered list_builds(call&);

// scans.cpp
response request_scan(call&);
response request_version_scan(call&);
response report_scan(call&);
answered get_scan(call&);

}  // namespace herald::api::handlers
