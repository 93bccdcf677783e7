// Handlers of models, versions and their stages.
#pragma once

#include "api/calls/handler.hpp"

namespace herald::api::handlers {

// models.cpp
response create_model(call&);
answered get_model_by_name(call&);
answered get_model(call&);
answered find_models(call&);

// versions.cpp
response create_version(call&);
answered get_version(call&);
answered get_version_by_names(call&);
answered find_versions(call&);
response patch_version(call&);
response put_version(call&);

// stages.cpp
response create_transition(call&);
response approve_transition(call&);
response reject_transition(call&);
response close_transition(call&);
response commit_transition(call&);
answered get_promotion(call&);
response fail_promotion(call&);

}  // namespace herald::api::handlers
