// What a read of `attempts`, or a look at the outbox, changes in the history: rows, indexes and counts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "schemas/deliveries.hpp"
#include "storage/deliveries/history_database.hpp"
#include "storage/deliveries/history_keys.hpp"

namespace herald::storage::deliveries {

/// Collects changes and adds them to the batch at last: a row that changes several times is written once, and
/// so is each counter. Lives as long as one write.
class history_batch {
  public:
    history_batch(const open_history& open, rocksdb::WriteBatch& into) : x_open(open), x_batch(into) {}

    void keep(std::int32_t partition, std::uint64_t offset, const schemas::attempt&);
    /// A delivery that waits for its first attempt, unless the history knows it.
    void expect(schemas::delivery_row);
    void finish();
    void put(const std::string& key, const std::string& value) { x_batch.Put(x_open.rows(), key, value); }

    std::int64_t newest_ms() const noexcept { return x_newest_ms; }

  private:
    struct row_change {
        std::optional<schemas::delivery_row> before;
        schemas::delivery_row now;
    };
    enum class replay_outcome : std::uint8_t { none, delivered, failed };
    struct outcome_change {
        std::int64_t time_ms = 0;  // of the attempt
        replay_outcome what = replay_outcome::none;
    };
    struct webhook_change {
        schemas::recent_attempts recent;
        std::map<std::uint32_t, schemas::attempts_of_hour> hours;
    };

    row_change& row_of(const std::string& id);
    void put_attempt(std::int32_t partition, std::uint64_t offset, const schemas::attempt&);
    void count_attempt(const schemas::attempt&);
    void count_replay(const schemas::attempt&);
    void finish_row(const row_change&);
    void count(const schemas::delivery_row&, std::int64_t by);
    template <schemas::described Row>
    Row read(const std::string& key) const;

    const open_history& x_open;
    rocksdb::WriteBatch& x_batch;
    std::unordered_map<std::string, row_change> x_rows;
    std::map<schemas::webhook_id, webhook_change> x_webhooks;
    std::map<std::string, std::int64_t> x_counts;      // changes by key
    std::map<std::string, outcome_change> x_outcomes;  // of replays' deliveries, by key
    std::map<std::uint64_t, schemas::replay_outcomes> x_replays;
    std::int64_t x_newest_ms = 0;
};

std::uint64_t count_in(std::string_view value) noexcept;

}  // namespace herald::storage::deliveries
