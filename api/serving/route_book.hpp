// The newest route table, for every event loop, and what renews it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "api/serving/route_table.hpp"
#include "runtime/newest.hpp"

namespace herald::api::serving {

/// The serving loops read it. The applier's thread replaces what it shows before a command's sender gets the
/// answer.
class route_book {
  public:
    /// `loops`: the number of event loops.
    explicit route_book(std::size_t loops);

    /// The newest snapshot. Only on the thread of this event loop; valid until its next call there. No lock,
    /// but when there is a new one.
    const route_table& on_loop(std::size_t loop_index) noexcept {
        seat& mine = x_seats[loop_index];
        if (mine.version != x_version.load(std::memory_order_acquire)) renew(mine);
        return *mine.table;
    }
    /// Any thread; takes a lock.
    std::shared_ptr<const route_table> newest() const { return x_newest.load(); }
    /// The number of event loops that read from it.
    std::size_t loops() const noexcept { return x_seats.size(); }

    /// False until the log was applied to its end once: no prediction is answered before, not even by 404,
    /// but 503.
    bool is_known() const noexcept { return x_is_known.load(std::memory_order_acquire); }
    /// Whether this node says that it is ready for predictions: its models were tried, too (first_loads).
    /// Cheap.
    bool is_ready() const noexcept { return x_is_ready.load(std::memory_order_relaxed); }

    /// One thread at a time.
    void store(std::shared_ptr<const route_table>);
    /// Lets go of all snapshots. Only once no event loop reads any more.
    void clear();
    void set_known() noexcept { x_is_known.store(true, std::memory_order_release); }
    void set_ready() noexcept { x_is_ready.store(true, std::memory_order_relaxed); }

  private:
    struct alignas(64) seat {
        std::uint64_t version = 0;
        std::shared_ptr<const route_table> table;
    };
    void renew(seat&) noexcept;

    runtime::newest<const route_table> x_newest;
    std::atomic<std::uint64_t> x_version{1};
    std::atomic<bool> x_is_known = false;
    std::atomic<bool> x_is_ready = false;
    std::vector<seat> x_seats;
};

}  // namespace herald::api::serving
