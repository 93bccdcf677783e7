// Counts large bodies under way: all of them, those of one user, and those by one signed URL. Without shares
// one caller could keep all places.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/error.hpp"
#include "schemas/ids.hpp"

namespace herald::api::calls {

/// Thread-safe.
class transfer_places {
  public:
    struct bounds {
        std::size_t of_node = 0;
        std::size_t of_user = 0;
        std::size_t of_url = 0;
    };
    /// `what`: "uploads", for the refusals.
    transfer_places(std::string what, const bounds&);
    ~transfer_places();
    transfer_places(const transfer_places&) = delete;
    transfer_places& operator=(const transfer_places&) = delete;

    /// Whether one is free now; it may be gone when it is taken. Errors: as take.
    result<void> check(schemas::user_id, std::string_view url) const;
    /// It is free again when this is released. May outlive the places.
    using place = std::shared_ptr<void>;
    /// Errors: unavailable when that many are under way.
    result<place> take(schemas::user_id, std::string_view url);

  private:
    class counts;
    const std::shared_ptr<counts> x_counts;
};

/// The uploads and downloads of artifacts on this node.
struct artifact_transfers {
    artifact_transfers();
    transfer_places uploads;
    transfer_places downloads;
    std::atomic<bool> is_store_checked = true;  // until then no upload begins
};

}  // namespace herald::api::calls
