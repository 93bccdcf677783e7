// Handlers of builds and their scans.
#pragma once

#include "api/calls/handler.hpp"

namespace herald::api::deployment {

// builds.cpp
calls::response create_build(calls::writing_call&);
calls::answered get_build(calls::reading_call&);
calls::answered list_builds(calls::reading_call&);

// scans.cpp
calls::response request_scan(calls::writing_call&);
calls::response request_version_scan(calls::writing_call&);
calls::response report_scan(calls::writing_call&);
calls::answered get_scan(calls::reading_call&);

}  // namespace herald::api::deployment
