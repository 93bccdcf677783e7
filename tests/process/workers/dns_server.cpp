// As much of RFC 1035 as one question and its answers need.
#include "tests/process/workers/dns_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

namespace herald::test {

namespace {

constexpr std::size_t header_bytes = 12;
constexpr std::uint8_t type_a = 1;
constexpr std::uint8_t type_aaaa = 28;
constexpr std::uint8_t server_failure = 2;
constexpr std::uint8_t no_such_name = 3;

void append_record(std::string& reply, std::uint8_t type, std::string_view bytes) {
    reply.append("\xc0\x0c", 2);  // the name of the question
    reply.append({'\0', static_cast<char>(type), '\0', '\1'});
    reply.append(4, '\0');  // not to be kept
    reply.append({'\0', static_cast<char>(bytes.size())});
    reply.append(bytes);
}

}  // namespace

dns_server::dns_server(script answer) : x_answer(std::move(answer)) {
    x_socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(x_socket, generic, length) != 0 || ::getsockname(x_socket, generic, &length) != 0) {
        throw std::runtime_error("the test's DNS server cannot listen");
    }
    x_port = ntohs(address.sin_port);
    x_thread = std::thread([this] { serve(); });
}

dns_server::~dns_server() {
    x_stopped = true;
    x_thread.join();
    ::close(x_socket);
}

std::string dns_server::address() const { return "127.0.0.1:" + std::to_string(x_port); }

void dns_server::serve() {
    while (!x_stopped) {
        pollfd one{x_socket, POLLIN, 0};
        if (::poll(&one, 1, 10) <= 0) continue;
        std::array<char, 512> question{};
        sockaddr_in from{};
        socklen_t length = sizeof from;
        auto* const generic = reinterpret_cast<sockaddr*>(&from);
        const auto got = ::recvfrom(x_socket, question.data(), question.size(), 0, generic, &length);
        if (got < static_cast<ssize_t>(header_bytes)) continue;
        const std::string reply = reply_to({question.data(), static_cast<std::size_t>(got)});
        if (!reply.empty()) ::sendto(x_socket, reply.data(), reply.size(), 0, generic, length);
    }
}

std::string dns_server::reply_to(std::string_view question) const {
    std::string name;
    std::size_t at = header_bytes;
    while (at < question.size() && question[at] != 0) {
        const auto label_bytes = static_cast<std::uint8_t>(question[at]);
        if (!name.empty()) name += '.';
        name += question.substr(at + 1, label_bytes);
        at += 1u + label_bytes;
    }
    if (at + 5 > question.size()) return {};
    const auto type = static_cast<std::uint8_t>(question[at + 2]);
    const dns_answer answer = x_answer(name, type == type_aaaa ? dns_family::v6 : dns_family::v4);
    if (answer.what == dns_answer::kind::silence) return {};

    std::string reply(question.substr(0, at + 5));
    std::uint8_t code = 0;
    if (answer.what == dns_answer::kind::no_such_name) code = no_such_name;
    if (answer.what == dns_answer::kind::server_failure) code = server_failure;
    reply[2] = '\x81';  // an answer, recursion as desired
    reply[3] = static_cast<char>(0x80 | code);
    std::uint8_t count = 0;
    for (const std::string& text : answer.addresses) {
        std::array<char, 16> bytes{};
        const int family = type == type_aaaa ? AF_INET6 : AF_INET;
        if (::inet_pton(family, text.c_str(), bytes.data()) != 1) continue;
        append_record(reply, type, {bytes.data(), type == type_a ? 4u : 16u});
        ++count;
    }
    reply[6] = 0;
    reply[7] = static_cast<char>(count);
    reply.replace(8, 4, 4, '\0');  // neither authorities nor anything additional
    return reply;
}

}  // namespace herald::test
