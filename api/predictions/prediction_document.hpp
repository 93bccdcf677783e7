// The paths of predictions in the OpenAPI document.
#pragma once

#include "api/calls/document_part.hpp"

namespace herald::api::predictions {

/// All paths that parsed_path() knows, with their bodies, headers and refusals.
calls::document_part document_part();

}  // namespace herald::api::predictions
