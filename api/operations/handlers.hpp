// Handlers of what operators and clients ask of the installation.
#pragma once

#include "api/calls/handler.hpp"

namespace herald::api::operations {

calls::answered list_feature_flags(calls::call&);
calls::response set_feature_flag(calls::call&);

}  // namespace herald::api::operations
