// What systemd is told of this process (sd_notify(3)): that it serves, and that it ends.
#pragma once

#include <string_view>

namespace herald::program {

/// Sends `state`, lines NAME=VALUE, to the socket that NOTIFY_SOCKET names. Does nothing where there is none,
/// or where nobody listens: a process serves as well without a manager. On any thread.
void tell_service_manager(std::string_view state) noexcept;

}  // namespace herald::program
