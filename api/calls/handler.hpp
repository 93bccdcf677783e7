// A handler checks the form, appends or reads, and renders the answer; the registry's rules decide what the
// request means (design.md §1). Errors are those of the rule or the read.
#pragma once

#include <type_traits>

#include "api/calls/call.hpp"

namespace herald::api::calls {

/// For a write (or a test): appends and waits.
using response = task<runtime::http::http_response>;
/// For a read.
using answered = result<runtime::http::http_response>;
/// For a read of many rows, in slices.
using slicing = result<std::unique_ptr<sliced_answer>>;

inline response refused(error why) { co_return why; }

/// A handler that is given its body: Answer Handler(Call&, Body). Errors: also those of reading_call::body.
template <auto Handler>
struct given_body;
template <class Answer, class Call, class Body, Answer (*Handler)(Call&, Body)>
struct given_body<Handler> {
    using type = Body;
    static Answer handle(Call& call) {
        auto sent = call.template body<Body>();
        if (sent) return Handler(call, *std::move(sent));
        if constexpr (std::is_same_v<Answer, response>)
            return refused(sent.error());
        else
            return sent.error();
    }
};

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
