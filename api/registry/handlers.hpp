// Handlers of models, versions and their stages.
#pragma once

#include "api/calls/handler.hpp"

namespace herald::api::registry {

// models.cpp
calls::response create_model(calls::call&);
calls::answered get_model_by_name(calls::call&);
calls::answered get_model(calls::call&);
calls::answered find_models(calls::call&);

// versions.cpp
calls::response create_version(calls::call&);
calls::answered get_version(calls::call&);
calls::answered find_versions(calls::call&);
calls::response patch_version(calls::call&);
calls::response put_version(calls::call&);

// stages.cpp
calls::response create_transition(calls::call&);
calls::response approve_transition(calls::call&);
calls::response reject_transition(calls::call&);
calls::response close_transition(calls::call&);
calls::response commit_transition(calls::call&);
calls::answered get_promotion(calls::call&);
calls::response fail_promotion(calls::call&);

}  // namespace herald::api::registry
