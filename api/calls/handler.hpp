// A handler checks the form, appends or reads, and renders the answer; what the request means is decided in
// the registry's rules (design.md §1). Errors are those of the rule or the read.
#pragma once

#include "api/calls/call.hpp"

namespace herald::api::calls {

/// A write (or a test): appends and waits.
using response = task<runtime::http::http_response>;
/// A read: state() and user() of its call are set.
using answered = result<runtime::http::http_response>;

}  // namespace herald::api::calls
