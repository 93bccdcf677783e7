#include "runtime/http/client/open_connections.hpp"

#include <utility>

namespace herald::runtime::http::client {

class open_connections::held_place {
  public:
    held_place(std::shared_ptr<open_connections> all, const std::string& location)
        : x_all(std::move(all)), x_of(x_all->x_to.try_emplace(location, 0).first) {
        ++x_all->x_count;
        ++x_of->second;
    }
    ~held_place() {
        --x_all->x_count;
        if (--x_of->second == 0) x_all->x_to.erase(x_of);
    }
    held_place(const held_place&) = delete;
    held_place& operator=(const held_place&) = delete;

  private:
    const std::shared_ptr<open_connections> x_all;
    const std::map<std::string, std::size_t, std::less<>>::iterator x_of;
};

std::size_t open_connections::count_to(std::string_view location) const {
    const auto found = x_to.find(location);
    return found == x_to.end() ? 0 : found->second;
}

std::shared_ptr<const void> open_connections::place(const std::string& location) {
    return std::make_shared<const held_place>(shared_from_this(), location);
}

}  // namespace herald::runtime::http::client
