// Both ends of a delivery, compiled, so that they cost less than what is measured;
// tests/support/delivery_ends.py starts them.
//   delivery_ends receive         prints its port; answers POSTs to /…/500 with 500, to /…/slow after 500 ms,
//   to
//                                 /…/hang never, all others at once with 200. For each line of its input it
//                                 prints one of output: for each path "path deliveries repeats
//                                 ms-of-the-last-new-one".
//   delivery_ends send PORT CALLERS RATE
//                                 sends the lines of its input ("path body"), with the headers of the lines
//                                 before the first empty one; RATE 0: as fast as it goes. Prints the answers
//                                 that were not 200 and the milliseconds it took.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace {

constexpr int slow_ms = 500;

std::int64_t now_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

void expect(bool right, const char* what) {
    if (right) return;
    std::perror(what);
    std::exit(1);
}

void watch(int epoll, int descriptor) {
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.fd = descriptor;
    expect(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &wanted) == 0, "epoll_ctl");
}

void send_now(int descriptor, std::string_view text) {
    const int on = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    while (!text.empty()) {
        const ssize_t sent = ::send(descriptor, text.data(), text.size(), MSG_NOSIGNAL);
        if (sent < 0) return;
        text.remove_prefix(static_cast<std::size_t>(sent));
    }
}

/// False when the other end has closed.
bool receive_more(int descriptor, std::string& text) {
    char block[16 * 1024];
    const ssize_t got = ::recv(descriptor, block, sizeof block, 0);
    if (got > 0) text.append(block, static_cast<std::size_t>(got));
    return got > 0;
}

std::string_view header_of(std::string_view head, std::string_view name) {
    const std::string wanted = "\r\n" + std::string(name) + ": ";
    const std::size_t at = head.find(wanted);
    if (at == std::string_view::npos) return {};
    const std::size_t begin = at + wanted.size();
    return head.substr(begin, head.find('\r', begin) - begin);
}

/// Length of the first complete message; 0 when it is not complete yet.
std::size_t whole(std::string_view text) {
    const std::size_t end = text.find("\r\n\r\n");
    if (end == std::string_view::npos) return 0;
    const std::string_view head = text.substr(0, end + 2);
    std::string_view length = header_of(head, "content-length");
    if (length.empty()) length = header_of(head, "Content-Length");
    const std::size_t bytes = end + 4 + (length.empty() ? 0 : std::stoul(std::string(length)));
    return text.size() >= bytes ? bytes : 0;
}

struct of_path {
    std::unordered_set<std::string> ids;
    std::size_t repeats = 0;
    std::int64_t last_ms = 0;
};

int receive() {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = loopback(0);
    expect(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "bind");
    expect(::listen(listener, 1024) == 0, "listen");
    socklen_t size = sizeof address;
    ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    std::printf("%d\n", ntohs(address.sin_port));
    std::fflush(stdout);

    const int epoll = epoll_create1(0);
    watch(epoll, listener);
    watch(epoll, STDIN_FILENO);
    std::unordered_map<int, std::string> texts;
    std::map<std::string, of_path, std::less<>> seen;
    std::deque<std::pair<std::int64_t, int>> slow;
    const std::string well = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    const std::string bad = "HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n";
    while (true) {
        epoll_event ready[64];
        const std::int64_t wait_ms =
            slow.empty() ? 1'000 : std::max<std::int64_t>(0, slow.front().first - now_ms());
        const int count = epoll_wait(epoll, ready, 64, static_cast<int>(wait_ms));
        for (; !slow.empty() && slow.front().first <= now_ms(); slow.pop_front())
            if (texts.contains(slow.front().second)) send_now(slow.front().second, well);
        for (int index = 0; index < count; ++index) {
            const int descriptor = ready[index].data.fd;
            if (descriptor == listener) {
                const int accepted = ::accept(listener, nullptr, nullptr);
                if (accepted < 0) continue;
                texts[accepted].clear();
                watch(epoll, accepted);
                continue;
            }
            if (descriptor == STDIN_FILENO) {
                char line[64];
                if (::read(STDIN_FILENO, line, sizeof line) <= 0) return 0;
                for (const auto& [path, one] : seen)
                    std::printf("%s %zu %zu %lld ", path.c_str(), one.ids.size(), one.repeats,
                                static_cast<long long>(one.last_ms));
                std::printf("\n");
                std::fflush(stdout);
                continue;
            }
            std::string& text = texts[descriptor];
            if (!receive_more(descriptor, text)) {
                texts.erase(descriptor);
                ::close(descriptor);
                continue;
            }
            while (const std::size_t bytes = whole(text)) {
                const std::string_view request(text.data(), bytes);
                const std::string_view path = request.substr(5, request.find(' ', 5) - 5);
                auto at = seen.find(path);
                if (at == seen.end()) at = seen.try_emplace(std::string(path)).first;
                if (at->second.ids.emplace(header_of(request, "webhook-id")).second)
                    at->second.last_ms = now_ms();
                else
                    ++at->second.repeats;
                if (path.ends_with("/slow"))
                    slow.emplace_back(now_ms() + slow_ms, descriptor);
                else if (!path.ends_with("/hang"))
                    send_now(descriptor, path.ends_with("/500") ? bad : well);
                text.erase(0, bytes);
            }
        }
    }
}

int send_all(std::uint16_t port, std::size_t callers, double rate) {
    std::string headers;
    std::vector<std::string> requests;
    std::string line;
    while (std::getline(std::cin, line) && !line.empty()) headers += line + "\r\n";
    while (std::getline(std::cin, line)) {
        const std::size_t space = line.find(' ');
        const std::string body = line.substr(space + 1);
        requests.push_back("POST " + line.substr(0, space) + " HTTP/1.1\r\nhost: h\r\n" + headers +
                           "content-length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    }
    const int epoll = epoll_create1(0);
    std::unordered_map<int, std::string> texts;
    std::vector<int> idle;
    for (std::size_t caller = 0; caller < callers; ++caller) {
        const int connection = ::socket(AF_INET, SOCK_STREAM, 0);
        const sockaddr_in address = loopback(port);
        expect(::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
               "connect");
        texts[connection].clear();
        watch(epoll, connection);
        idle.push_back(connection);
    }
    std::size_t sent = 0;
    std::size_t answered = 0;
    std::size_t bad = 0;
    const std::int64_t begin_ms = now_ms();
    while (answered < requests.size()) {
        const double passed_ms = static_cast<double>(now_ms() - begin_ms);
        const std::size_t may =
            rate == 0 ? requests.size()
                      : std::min(requests.size(), static_cast<std::size_t>(passed_ms * rate / 1000) + 1);
        while (sent < may && !idle.empty()) {
            send_now(idle.back(), requests[sent++]);
            idle.pop_back();
        }
        epoll_event ready[64];
        const int count = epoll_wait(epoll, ready, 64, 1);
        for (int index = 0; index < count; ++index) {
            const int connection = ready[index].data.fd;
            std::string& text = texts[connection];
            expect(receive_more(connection, text), "the server has closed");
            const std::size_t bytes = whole(text);
            if (bytes == 0) continue;
            if (!text.starts_with("HTTP/1.1 200")) {
                if (++bad == 1) std::fprintf(stderr, "%s\n", text.c_str());
            }
            text.erase(0, bytes);
            ++answered;
            idle.push_back(connection);
        }
    }
    std::printf("%zu %lld\n", bad, static_cast<long long>(now_ms() - begin_ms));
    return 0;
}

}  // namespace

int main(int count, char** values) {
    const std::string_view what = count > 1 ? values[1] : "";
    if (what == "receive") return receive();
    if (what == "send" && count == 5)
        return send_all(static_cast<std::uint16_t>(std::atoi(values[2])),
                        static_cast<std::size_t>(std::atoi(values[3])), std::atof(values[4]));
    std::fprintf(stderr, "usage: delivery_ends receive | send PORT CALLERS RATE\n");
    return 2;
}
