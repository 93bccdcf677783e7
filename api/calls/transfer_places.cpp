#include "api/calls/transfer_places.hpp"

#include <map>

#include "api/calls/limits.hpp"
#include "runtime/mutex.hpp"
#include "storage/artifacts/limits.hpp"

namespace herald::api::calls {

class transfer_places::counts : public std::enable_shared_from_this<counts> {
  public:
    counts(std::string what, const bounds& given) : x_what(std::move(what)), x_bounds(given) {}

    result<void> check(schemas::user_id user, const std::string& url) {
        const runtime::lock_guard lock(x_mutex);
        return check_locked(user, url);
    }
    result<place> take(schemas::user_id user, const std::string& name) {
        const runtime::lock_guard lock(x_mutex);
        const auto free = check_locked(user, name);
        if (!free) return free.error();
        ++x_all;
        ++x_of_user[user];
        ++x_of_url[name];
        return place(nullptr,
                     [self = shared_from_this(), user, name](void*) { self->give_back(user, name); });
    }

  private:
    template <class Counts, class Key>
    static std::size_t taken(const Counts& of, const Key& key) {
        const auto found = of.find(key);
        return found == of.end() ? 0 : found->second;
    }
    template <class Counts, class Key>
    static void count_down(Counts& of, const Key& key) {
        const auto found = of.find(key);
        if (--found->second == 0) of.erase(found);
    }
    result<void> check_locked(schemas::user_id user, const std::string& url) const REQUIRES(x_mutex) {
        if (x_all >= x_bounds.of_node) return too_many("on this node", x_bounds.of_node);
        if (taken(x_of_url, url) >= x_bounds.of_url) return too_many("by this URL", x_bounds.of_url);
        if (taken(x_of_user, user) >= x_bounds.of_user) return too_many("of this user", x_bounds.of_user);
        return {};
    }
    error too_many(std::string_view of, std::size_t bound) const {
        return runtime::unavailable({bound, " ", x_what, " ", of,
                                     " are under way, and no more may be at a time; try again when one "
                                     "has ended"});
    }
    void give_back(schemas::user_id user, const std::string& url) {
        const runtime::lock_guard lock(x_mutex);
        --x_all;
        count_down(x_of_user, user);
        count_down(x_of_url, url);
    }

    const std::string x_what;
    const bounds x_bounds;
    runtime::mutex x_mutex;
    std::size_t x_all GUARDED_BY(x_mutex) = 0;
    std::map<schemas::user_id, std::size_t> x_of_user GUARDED_BY(x_mutex);
    std::map<std::string, std::size_t> x_of_url GUARDED_BY(x_mutex);
};

transfer_places::transfer_places(std::string what, const bounds& given)
    : x_counts(std::make_shared<counts>(std::move(what), given)) {}
transfer_places::~transfer_places() = default;

result<void> transfer_places::check(schemas::user_id user, std::string_view url) const {
    return x_counts->check(user, std::string(url));
}

result<transfer_places::place> transfer_places::take(schemas::user_id user, std::string_view url) {
    return x_counts->take(user, std::string(url));
}

artifact_transfers::artifact_transfers()
    : uploads("uploads", {.of_node = limits::artifact_uploads_max,
                          .of_user = limits::artifact_uploads_of_user_max,
                          .of_url = limits::artifact_uploads_of_url_max}),
      downloads("downloads", {.of_node = limits::artifact_downloads_max,
                              .of_user = limits::artifact_downloads_of_user_max,
                              .of_url = limits::artifact_downloads_of_url_max}) {}

}  // namespace herald::api::calls
