// Which delivery may be attempted now: a lane for each webhook, so that a slow, hanging or dead receiver
// delays nobody else (design.md §3, promise P4). Pure: (event, now) → actions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <ostream>
#include <vector>

#include "runtime/limits.hpp"
#include "schemas/ids.hpp"
#include "workers/breaker.hpp"

namespace herald::workers {

/// Names a delivery in this worker's memory. Given out once, never again.
using delivery_key = std::uint64_t;

/// How a delivery shares its lane. A replay gets at most a quarter of it. A test passes by breaker, parking
/// and concurrency (one at a time), and its result changes nothing.
enum class lane_share : std::uint8_t { live, replay, test };

/// What an attempt said about its receiver.
enum class receiver_state : std::uint8_t {
    well,
    failing,
    overloaded,  // 429, 502, 504: failing, and the lane slows down to one attempt at a time
    unknown,     // cancelled, never sent, a test, or the receiver asked for a pause
};

enum class spill_reason : std::uint8_t { lane_full, breaker_open, parked, waited_long };

/// What is to be done with a delivery: attempt it now, or send it to a retry topic without an attempt.
struct lane_action {
    enum class kind : std::uint8_t { start, spill };
    kind what = kind::start;
    delivery_key delivery = 0;
    spill_reason reason = spill_reason::lane_full;  // of a spill

    friend bool operator==(const lane_action&, const lane_action&) = default;
    friend std::ostream& operator<<(std::ostream&, const lane_action&);
};
using lane_actions = std::vector<lane_action>;

struct lane_offer {
    delivery_key delivery = 0;
    lane_share share = lane_share::live;
    std::size_t bytes = 0;  // of its body
};

struct lane_limits {
    std::size_t slots = limits::attempts_in_flight_max;
    std::size_t depth = limits::lane_depth_max;
    std::size_t bytes = limits::lane_bytes_max;
    std::size_t concurrency = limits::lane_concurrency_max;
};

/// All lanes of a worker. Times are steady milliseconds. A delivery that was offered stays until an action
/// spills it, it is finished after its start, or it is withdrawn. Every attempt takes a slot; lanes whose
/// last attempt failed or took over 2 s, or that have one running for longer, are troubled and share at most
/// half of the slots; where those that hang took more while they still seemed healthy, the healthy get up to
/// half as many slots on top. Holds one lane for each webhook that was busy in the last ten minutes, or in
/// the last day if its breaker is open.
class lanes {
  public:
    explicit lanes(lane_limits bounds = {}) : x_bounds(bounds) {}

    lane_actions offer(schemas::webhook_id, const lane_offer&, std::int64_t now_ms);
    /// The attempt that `start` asked for has ended.
    lane_actions finished(schemas::webhook_id, delivery_key, receiver_state, std::int64_t now_ms);
    /// The receiver asked for a pause (Retry-After): what waits is spilled, and what comes until then.
    lane_actions park(schemas::webhook_id, std::int64_t until_ms, std::int64_t now_ms);
    /// A waiting delivery leaves without an action; nothing happens when it does not wait.
    void withdraw(schemas::webhook_id, delivery_key);
    /// While barred nothing starts, and waiting does not count as long.
    lane_actions bar(bool barred, std::int64_t now_ms);
    /// Once a second: notices attempts that hang and deliveries that have waited long.
    lane_actions tick(std::int64_t now_ms);

    std::size_t in_flight() const noexcept { return x_in_flight; }
    std::size_t waiting() const noexcept;
    std::size_t open_breakers() const noexcept;
    /// Steady time until which the webhook is parked; 0: it is not.
    std::int64_t parked_until_ms(schemas::webhook_id) const;

  private:
    enum class rank : std::uint8_t { healthy, troubled };
    struct waiting_delivery {
        delivery_key delivery = 0;
        std::int64_t since_ms = 0;
        std::size_t bytes = 0;
    };
    struct running_attempt {
        std::int64_t since_ms = 0;
        lane_share share = lane_share::live;
        breaker::admission admitted = breaker::admission::ordinary;
    };
    using queue = std::deque<waiting_delivery>;
    struct lane {
        queue live;
        queue replay;
        queue tests;
        std::map<delivery_key, running_attempt> running;
        std::size_t concurrency = 1;
        rank standing = rank::healthy;
        bool replay_next = false;
        workers::breaker breaker;
        std::int64_t parked_until_ms = 0;
        std::int64_t busy_ms = 0;
        bool in_turn[2] = {false, false};  // whether x_turns[rank] names it

        queue& waiting(lane_share);
        std::size_t running_of(lane_share) const;
    };

    bool has_room(lane&, const lane_offer&) const;
    std::size_t depth_of(lane_share) const noexcept;
    /// The share of the delivery that the lane would start next; nothing when none may.
    std::optional<lane_share> next_share(const lane&, std::int64_t now_ms) const;
    bool has_slot(rank) const noexcept;
    void set_standing(lane&, rank);
    void enlist(schemas::webhook_id, lane&, std::int64_t now_ms);
    void start_all(std::int64_t now_ms, lane_actions&);
    void start_one(lane&, lane_share, std::int64_t now_ms, lane_actions&);
    static bool is_slow(const running_attempt&, std::int64_t now_ms) noexcept;
    static void spill(lane&, spill_reason, lane_actions&);
    static void spill_old(lane&, std::int64_t now_ms, lane_actions&);
    void record_result(lane&, const running_attempt&, receiver_state, std::int64_t now_ms) const;

    lane_limits x_bounds;
    std::map<schemas::webhook_id, lane> x_lanes;
    std::deque<schemas::webhook_id> x_turns[2];  // lanes that may start something, by standing, in turn
    std::size_t x_in_flight = 0;
    std::size_t x_in_flight_troubled = 0;
    bool x_barred = false;
};

}  // namespace herald::workers
