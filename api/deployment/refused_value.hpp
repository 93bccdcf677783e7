// Values that must be judged before a command can be made of them. The caller's rights come first (wire.md
// §1, "Order of refusals").
#pragma once

#include "api/calls/call.hpp"

namespace herald::api::deployment {

/// The refusal of a value: `why`, unless `may`, called with the newest state, refuses the call. Success for a
/// repeat whose outcome is known already: submit() then returns that.
template <class May>
calls::task<> refuse_value(const calls::writing_call& call, error why, May may) {
    const auto now = co_await calls::read_state(call.with().registry, call.limit());
    if (!now) co_return now.error();
    const result<void> nothing;
    if (call.is_decided(*now->view)) co_return nothing;
    const result<void> allowed = may(*now->view);
    if (!allowed) co_return allowed.error();
    co_return why;
}

}  // namespace herald::api::deployment
