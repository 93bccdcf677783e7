// Decides which delivery may be attempted now: a lane for each webhook, so that a slow, hanging or dead
// receiver delays nobody else (design.md §3, promise P4). Pure: (event, now) → actions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <vector>

#include "runtime/limits.hpp"
#include "schemas/ids.hpp"
#include "workers/breaker.hpp"
#include "workers/limits.hpp"

namespace herald::workers {

/// Identifies a delivery in this worker's memory. Never reused.
using delivery_key = std::uint64_t;

/// How a delivery shares its lane. A replay starts only while no live delivery waits, in slots beside theirs:
/// a quarter as many. A test ignores breaker, parking and concurrency (one test at a time), and its result
/// changes nothing. So does a resend, but its success closes the breaker.
enum class lane_share : std::uint8_t { live, replay, test, resend };
inline constexpr std::size_t lane_shares = 4;

/// What an attempt revealed about its receiver.
enum class receiver_state : std::uint8_t {
    well,
    failing,
    overloaded,  // 429, 502, 504: failing, and the lane slows down to one attempt at a time
    unknown,     // cancelled, never sent, a test, or the receiver asked for a pause
};

enum class spill_reason : std::uint8_t {
    no_room,       // the lane is full; the receiver may be slow, but it did not fail
    troubled,      // no room either, and its last attempt failed
    breaker_open,  // no attempt may start
    parked,        // the receiver asked for a pause
};

/// A moment on the worker's loop.
struct loop_time {
    std::int64_t ms = 0;  // steady
    /// For how long, in all, the loop was late (loop_lateness).
    std::int64_t late_ms = 0;

    constexpr loop_time(std::int64_t steady_ms, std::int64_t late_so_far_ms = 0)
        : ms(steady_ms), late_ms(late_so_far_ms) {}
    /// How much time has passed since, without the time for which the loop was late.
    constexpr std::int64_t since(const loop_time& earlier) const noexcept {
        return ms - earlier.ms - (late_ms - earlier.late_ms);
    }
};

/// How an attempt ended.
struct attempt_end {
    receiver_state state;
    /// How long the receiver took to answer. Empty: as long as the attempt.
    std::optional<std::int64_t> answer_ms;

    attempt_end(receiver_state shown, std::optional<std::int64_t> took_ms = {})
        : state(shown), answer_ms(took_ms) {}
};

/// What to do with a delivery: attempt it now, or spill it without an attempt into a topic.
struct lane_action {
    enum class kind : std::uint8_t { start, spill };
    kind what = kind::start;
    delivery_key delivery = 0;
    spill_reason reason = spill_reason::no_room;  // for a spill
    /// How long to spill for. 0: it waits only for room, or nobody can say how long.
    std::int64_t wait_ms = 0;

    friend bool operator==(const lane_action&, const lane_action&) = default;
    friend std::ostream& operator<<(std::ostream&, const lane_action&);
};
using lane_actions = std::vector<lane_action>;

struct lane_offer {
    delivery_key delivery = 0;
    lane_share share = lane_share::live;
    std::size_t bytes = 0;  // of its body
    /// It has already waited for room, and goes before those that have not.
    bool has_waited = false;
    std::int64_t waited_ms = 0;  // if so, for how long
    /// The webhook already has its share of its partition's window: the delivery may start, but not wait.
    bool over_share = false;
    std::uint64_t revision = 0;    // of the webhook as it is now
    std::uint32_t rate_limit = 0;  // attempts that may begin in a second; 0: any number
    std::uint64_t place = 0;       // scheme, host and port that it goes to, as a number; 0: unknown
};

struct lane_limits {
    std::size_t slots = limits::attempts_in_flight_max;
    std::size_t depth = limits::lane_depth_max;
    std::size_t bytes = limits::lane_bytes_max;
    std::size_t concurrency = limits::lane_concurrency_max;
    std::size_t place = limits::receiver_connections_default;  // attempts at one place
};

/// All lanes of a worker. An offered delivery stays until an action spills it,
/// it is started and then finished, or it is withdrawn. Every attempt takes a slot. A lane is troubled if its
/// last attempt failed or took over 2 s, or if a running one has taken longer; troubled lanes share at most
/// half of the slots. If hanging lanes took more while they still seemed healthy, the healthy ones get up to
/// half as many slots on top. Holds one lane for each webhook that was busy in the last ten minutes, or in
/// the last day if its breaker is open.
///
/// What attempts have shown holds for the revision of the webhook that they were made at: a change of the
/// webhook, which may have another place now, begins anew, and what is still under way then says nothing.
///
/// A lane holds what its receiver works off in about 2 s (delivery.md §4, "Pace"). A delivery that finds no
/// room waits for room, and is taken as soon as there is some; only after a failure does it wait for a time.
/// The slower the receiver, the longer the topic in which it waits, so that it holds up no others: each
/// delivery is booked one place behind the previous one.
///
/// Lanes that lead to one place share the attempts that may run there evenly.
///
/// A worker that is late itself judges nobody: the time for which its loop was late counts neither for an
/// attempt that seems to hang nor for a delivery that waits.
class lanes {
  public:
    explicit lanes(lane_limits bounds = {}) : x_bounds(bounds) {}

    lane_actions offer(schemas::webhook_id, const lane_offer&, loop_time now);
    /// The attempt that a `start` action asked for has ended.
    lane_actions finished(schemas::webhook_id, delivery_key, attempt_end, loop_time now);
    /// The receiver asked for a pause (Retry-After): spills what waits now and what arrives before the pause
    /// ends.
    /// `revision`: of the webhook that was asked; nothing happens when it has a later one now.
    lane_actions park(schemas::webhook_id, std::uint64_t revision, std::int64_t until_ms, loop_time now);
    /// Whether to offer now a delivery that waits for room: there is room, or it has to wait for something
    /// else.
    bool wants(schemas::webhook_id, const lane_offer&, loop_time now) const;
    /// A waiting delivery leaves without an action; does nothing if it does not wait.
    void withdraw(schemas::webhook_id, delivery_key);
    /// While barred, nothing starts, and time spent waiting does not count.
    lane_actions bar(bool barred, loop_time now);
    /// When the next delivery that waits for its lane's rate limit may start; empty: none waits.
    std::optional<std::int64_t> paced_until_ms(loop_time now) const;
    /// To be called then.
    lane_actions keep_pace(loop_time now);
    /// To be called once a second: notices hanging attempts and deliveries that have waited long.
    lane_actions tick(loop_time now);

    std::size_t in_flight() const noexcept { return x_in_flight; }
    std::size_t waiting() const noexcept;
    /// Of those, the ones whose receivers have answered well within limits::late_worker_well_ms: how soon
    /// they start depends on the worker alone. Looks at every lane.
    std::size_t waiting_for_worker(loop_time now) const noexcept;
    std::vector<schemas::webhook_id> open_breakers() const;
    /// Steady time until which the webhook is parked; 0: not parked.
    std::int64_t parked_until_ms(schemas::webhook_id) const;

  private:
    enum class rank : std::uint8_t { healthy, troubled };
    struct waiting_delivery {
        loop_time since{0};
        std::size_t bytes = 0;
    };
    struct running_attempt {
        loop_time since{0};
        lane_share share = lane_share::live;
        breaker::admission admitted = breaker::admission::ordinary;
        std::uint64_t revision = 0;
        std::uint64_t place = 0;
    };
    struct queue {
        std::map<delivery_key, waiting_delivery> all;  // in order of arrival
        std::size_t bytes = 0;

        void erase(std::map<delivery_key, waiting_delivery>::iterator);
    };
    /// How long answers take: the median of the last 20, and the lowest median of the last one to two
    /// minutes.
    struct answer_times {
        std::array<std::int64_t, 20> taken{};
        std::size_t count = 0;  // of `taken`
        std::optional<std::int64_t> median_ms;
        std::optional<std::int64_t> lowest_ms;         // of the minute that began at lowest_since_ms
        std::optional<std::int64_t> lowest_before_ms;  // of the minute before
        std::int64_t lowest_since_ms = 0;

        /// True when this answer made a new median that is over twice the lowest.
        bool add(std::int64_t took_ms, std::int64_t now_ms);
    };
    /// What attempts have shown of the receiver.
    struct experience {
        std::array<std::size_t, lane_shares> running_of{};  // by lane_share
        std::size_t concurrency = 1;
        std::size_t growth_until = 0;  // up to this, every success adds one; beyond it, every round trip does
        std::size_t successes = 0;     // since it last grew, beyond growth_until
        std::int64_t slowed_ms = 0;    // when the concurrency was last halved
        answer_times times;
        /// As of the last tick: for how long an attempt has run without any success meanwhile; 0: not long.
        std::int64_t silent_ms = 0;
        bool fails = false;             // the last attempt failed
        double booked_ms = 0;           // when it will have worked off the deliveries that found no room
        std::int64_t succeeded_ms = 0;  // time of the last success
        workers::breaker breaker;
        std::int64_t parked_until_ms = 0;
    };
    struct lane : experience {
        std::uint64_t revision = 0;                       // of the webhook, which the experience is of
        std::array<queue, lane_shares> waiting;           // by lane_share
        std::map<delivery_key, running_attempt> running;  // those of earlier revisions, too
        rank standing = rank::healthy;
        std::uint32_t rate_limit = 0;
        double next_start_ms = 0;  // by the rate limit
        std::uint64_t place = 0;
        std::int64_t busy_ms = 0;
        bool in_turn[2] = {false, false};  // whether x_turns[rank] contains it

        queue& of(lane_share share) { return waiting[static_cast<std::size_t>(share)]; }
        const queue& of(lane_share share) const { return waiting[static_cast<std::size_t>(share)]; }
        bool is_empty() const;
    };

    struct used_place {
        std::size_t in_flight = 0;
        std::set<schemas::webhook_id> lanes;
    };

    /// The lane of the webhook, which has at least this revision.
    lane& lane_of(schemas::webhook_id, std::uint64_t revision, loop_time now);
    void set_pace(schemas::webhook_id, lane&, std::uint32_t rate_limit);
    static void book_next_start(lane&, loop_time now) noexcept;
    void set_place(schemas::webhook_id, lane&, std::uint64_t place);
    bool is_full(std::uint64_t place) const;
    void leave_place(schemas::webhook_id, std::uint64_t place, loop_time now);
    /// How long its rate limit keeps it from starting anything; 0: not at all.
    static std::int64_t pace_ms(const lane&, loop_time now) noexcept;
    bool has_room(const lane&, const lane_offer&) const;
    /// How many deliveries of one share may wait in the lane, and how many bytes.
    std::size_t depth_of(const lane&, lane_share) const noexcept;
    std::size_t bytes_of(const lane&) const noexcept;
    /// How many deliveries its receiver works off in `ms`.
    static double work_in(const lane&, std::size_t concurrency, double ms) noexcept;
    /// How long an answer takes: the median, or as long as nothing has come by now. Empty: not known yet.
    static std::optional<std::int64_t> answer_ms(const lane&) noexcept;
    /// Why a lane that is not full takes nothing now; empty when it does.
    std::optional<lane_action> refusal(const lane&, loop_time now) const;
    lane_action put_off(lane&, bool has_waited, loop_time now) const;
    static std::int64_t backlog_ms_max(const lane&) noexcept;
    static bool is_well(const lane&, loop_time now) noexcept;
    /// The share of the delivery that the lane would start next; empty when none may start.
    std::optional<lane_share> next_share(const lane&, loop_time now) const;
    bool has_slot(rank) const noexcept;
    std::size_t concurrency_of(const lane&) const noexcept;
    void set_standing(lane&, rank);
    void enlist(schemas::webhook_id, lane&, loop_time now);
    void start_all(loop_time now, lane_actions&);
    void start_one(lane&, lane_share, loop_time now, lane_actions&);
    static bool is_slow(const lane&, const running_attempt&, loop_time now) noexcept;
    static void spill(lane&, const lane_action& how, lane_actions&);
    void spill_old(lane&, loop_time now, lane_actions&) const;
    void record_result(lane&, const running_attempt&, const attempt_end&, loop_time now) const;
    void grow(lane&) const;
    static void slow_down(lane&, const running_attempt&, loop_time now);

    lane_limits x_bounds;
    std::map<schemas::webhook_id, lane> x_lanes;
    std::deque<schemas::webhook_id> x_turns[2];  // lanes that may start something, by rank, in turn
    std::map<std::uint64_t, used_place> x_places;
    std::set<schemas::webhook_id> x_paced;  // lanes with a rate limit
    std::size_t x_in_flight = 0;
    std::size_t x_in_flight_troubled = 0;
    bool x_is_barred = false;
};

}  // namespace herald::workers
