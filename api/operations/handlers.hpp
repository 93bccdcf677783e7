// Handlers of what operators and clients ask of the installation.
#pragma once

#include "api/calls/handler.hpp"

namespace herald::api::handlers {

answered list_feature_flags(call&);
response set_feature_flag(call&);

}  // namespace herald::api::handlers
