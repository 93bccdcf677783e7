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

/// The words of every file of handlers.
namespace handling {
using calls::answered;
using calls::reading_call;
using calls::response;
using calls::slicing;
using calls::writing_call;
namespace answers = schemas::answers;
namespace requests = schemas::requests;
}  // namespace handling

}  // namespace herald::api::calls
