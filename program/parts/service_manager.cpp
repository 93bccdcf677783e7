#include "program/parts/service_manager.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace herald::program {

void tell_service_manager(std::string_view state) noexcept {
    const char* const named = std::getenv("NOTIFY_SOCKET");
    if (named == nullptr) return;
    const std::string_view path = named;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() < 2 || path.size() >= sizeof address.sun_path) return;
    std::memcpy(address.sun_path, path.data(), path.size());
    if (path.front() == '@') address.sun_path[0] = '\0';  // a name that is not in the file system
    const int to = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (to < 0) return;
    [[maybe_unused]] const auto sent =
        ::sendto(to, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
                 static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size()));
    ::close(to);
}

}  // namespace herald::program
