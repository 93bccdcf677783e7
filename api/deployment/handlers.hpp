// Handlers of builds and their scans.
#pragma once

#include "api/calls/handler.hpp"

namespace herald::api::deployment {

// builds.cpp
calls::response create_build(calls::call&);
calls::answered get_build(calls::call&);
calls::answered list_builds(calls::call&);

// scans.cpp
calls::response request_scan(calls::call&);
calls::response request_version_scan(calls::call&);
calls::response report_scan(calls::call&);
calls::answered get_scan(calls::call&);

}  // namespace herald::api::deployment
