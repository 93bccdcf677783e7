// A DNS server on loopback that answers as a test wants.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace herald::test {

struct dns_answer {
    enum class kind : std::uint8_t { addresses, no_such_name, server_failure, silence };
    kind what = kind::addresses;
    std::vector<std::string> addresses;  // only those of the requested family are sent
};

enum class dns_family : std::uint8_t { v4, v6 };

/// Calls `answer` on its thread for each question (UDP, types A and AAAA).
class dns_server {
  public:
    using script = std::function<dns_answer(const std::string& name, dns_family)>;
    explicit dns_server(script answer);
    ~dns_server();
    dns_server(const dns_server&) = delete;
    dns_server& operator=(const dns_server&) = delete;

    /// "127.0.0.1:<port>"
    std::string address() const;

  private:
    void serve();
    std::string reply_to(std::string_view question) const;

    script x_answer;
    int x_socket = -1;
    std::uint16_t x_port = 0;
    std::atomic<bool> x_stopped{false};
    std::thread x_thread;
};

}  // namespace herald::test
