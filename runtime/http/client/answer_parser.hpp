// Reads an HTTP answer from whatever pieces arrive, within the limits of delivery.md §3. No socket.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/http/message.hpp"

namespace herald::runtime::http::client {

/// For one answer to one POST. Belongs to one thread. Holds at most limits::answer_header_bytes_max of header
/// (interim 1xx answers count) and limits::answer_body_bytes_max of body; a longer body ends the reading and
/// is cut, a longer header is a failure. Nothing is decompressed and no redirect followed.
class answer_parser {
  public:
    enum class progress : std::uint8_t {
        more,      // feed on
        complete,  // status, headers and body are there
        failed,    // not HTTP, or not within the limits: see failure()
    };

    answer_parser();
    ~answer_parser();
    answer_parser(const answer_parser&) = delete;
    answer_parser& operator=(const answer_parser&) = delete;

    /// Not to be called again after anything but `more`.
    progress feed(std::string_view bytes);
    /// The receiver will send no more.
    progress end();

    std::uint16_t status() const noexcept;
    std::vector<header>& headers() noexcept;
    std::string& body() noexcept;
    const std::string& failure() const noexcept;
    /// True if the answer said by itself where it ends, ended there, and the receiver keeps the connection.
    bool leaves_connection_usable() const noexcept;

  private:
    class implementation;
    std::unique_ptr<implementation> x_implementation;
};

}  // namespace herald::runtime::http::client
