// An inference that is waited for, for what is tried while a model is loaded.
#pragma once

#include "api/serving/engines/engine.hpp"

namespace herald::api::serving::engines {

/// Blocks until it is answered; not much longer than to the request's deadline, which it must have, or until
/// it is cancelled, even where nothing can end the run. Errors: those of the response; deadline_exceeded;
/// cancelled.
result<tensor_response> infer_and_wait(tensor_model&, tensor_request);

}  // namespace herald::api::serving::engines
