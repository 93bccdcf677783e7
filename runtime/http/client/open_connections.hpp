// How many connections of a client are open, idle ones included: in all, and to each location.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace herald::runtime::http::client {

/// On the thread of its client, which it may outlive.
class open_connections : public std::enable_shared_from_this<open_connections> {
  public:
    std::size_t count() const noexcept { return x_count; }
    std::size_t count_to(std::string_view location) const;
    /// Counts one more, as long as the place is held.
    std::shared_ptr<const void> place(const std::string& location);

  private:
    class held_place;

    std::size_t x_count = 0;
    std::map<std::string, std::size_t, std::less<>> x_to;  // without zeros
};

}  // namespace herald::runtime::http::client
