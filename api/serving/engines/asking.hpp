// Asks a model and waits, for what is tried while it is loaded.
#pragma once

#include "api/serving/engines/engine.hpp"

namespace herald::api::serving::engines {

/// Blocks until it is answered; not much longer than to the question's deadline, which it must have, or until
/// it is cancelled, even where nothing can end the run. Errors: those of the answer; deadline_exceeded;
/// cancelled.
tensor_model::outcome asked(tensor_model&, tensor_question);

}  // namespace herald::api::serving::engines
