// A handler checks the form, appends or reads, and renders the answer; the registry's rules decide what the
// request means (design.md §1). Errors are those of the rule or the read.
#pragma once

#include "api/calls/call.hpp"

namespace herald::api::calls {

/// For a write (or a test): appends and waits.
using response = task<runtime::http::http_response>;
/// For a read.
using answered = result<runtime::http::http_response>;
/// For a read of many rows, in slices.
using slicing = result<std::unique_ptr<sliced_answer>>;

}  // namespace herald::api::calls
