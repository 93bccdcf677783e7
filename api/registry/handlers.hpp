// Handlers of models, versions and their stages.
#pragma once

#include "api/calls/handler.hpp"

namespace herald::api::registry {

// models.cpp
calls::response create_model(calls::writing_call&);
calls::answered get_model_by_name(calls::reading_call&);
calls::answered get_model(calls::reading_call&);
calls::answered find_models(calls::reading_call&);

// versions.cpp
calls::response create_version(calls::writing_call&);
calls::answered get_version(calls::reading_call&);
calls::answered find_versions(calls::reading_call&);
calls::response patch_version(calls::writing_call&);
calls::response put_version(calls::writing_call&);

// stages.cpp
calls::response create_transition(calls::writing_call&);
calls::response approve_transition(calls::writing_call&);
calls::response reject_transition(calls::writing_call&);
calls::response close_transition(calls::writing_call&);
calls::response commit_transition(calls::writing_call&);
calls::answered get_promotion(calls::reading_call&);
calls::response fail_promotion(calls::writing_call&);

}  // namespace herald::api::registry
