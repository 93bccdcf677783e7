#include "tests/simulation/changed_apply.hpp"

#include <utility>

#include "events/log/topics.hpp"
#include "schemas/binary.hpp"
#include "storage/registry/engine/engine.hpp"
#include "storage/registry/tables/tables.hpp"
#include "tests/support/forwarding.hpp"

namespace herald::test {
namespace {

constexpr std::size_t due_bytes = 8;
const std::string timers = storage::registry::tables::key_of(storage::registry::tables::table::timer);

/// The key of a timer (letter, due, kind, key), moved.
std::string moved(std::string_view key, std::int64_t by_ms) {
    const auto due_ms = static_cast<std::int64_t>(storage::registry::tables::number_in_key(key)) + by_ms;
    return std::string(storage::registry::tables::key_of(storage::registry::tables::table::timer)
                           .number(static_cast<std::uint64_t>(due_ms))
                           .text(key.substr(1 + due_bytes)));
}

}  // namespace

std::function<void(events::log::record&, const storage::registry::state::state_view&)> resealed(
    std::function<void(schemas::commands::command_envelope&, const storage::registry::state::state_view&)>
        change) {
    return [change = std::move(change)](events::log::record& record,
                                        const storage::registry::state::state_view& before) {
        auto command = schemas::commands::open_envelope(record.value.value_or(""));
        if (!command) return;
        change(*command, before);
        record.value = schemas::commands::seal_envelope(*command);
    };
}

/// What is being applied.
struct changed_apply::moment {
    std::optional<schemas::commands::command_envelope> command;
    std::int64_t time_ms = 0;
};

class changed_apply::changed_log final : public forwarding_log {
  public:
    changed_log(events::log::partitioned_log& to, changed_apply& by) : forwarding_log(to), x_by(by) {}
    std::unique_ptr<events::log::reader> open_reader(const events::log::topic_partition& where,
                                                     std::int64_t from) override {
        auto reader = x_to.open_reader(where, from);
        if (where.topic != events::log::topic::commands) return reader;
        return std::make_unique<changed_reader>(std::move(reader), x_by);
    }

  private:
    class changed_reader final : public events::log::reader {
      public:
        changed_reader(std::unique_ptr<events::log::reader> to, changed_apply& by)
            : x_to(std::move(to)), x_by(by) {}
        result<events::log::read_batch> poll(std::size_t, std::int64_t wait_ms) override {
            auto batch = x_to->poll(1, wait_ms);
            if (batch)
                for (events::log::record& record : batch->records) x_by.change(record);
            return batch;
        }
        void on_ready(std::function<void()> notify) override { x_to->on_ready(std::move(notify)); }

      private:
        const std::unique_ptr<events::log::reader> x_to;
        changed_apply& x_by;
    };
    changed_apply& x_by;
};

/// The engine took this view before it knew the record, so it looks at the moment when it is read.
class changed_apply::changed_view final : public storage::registry::state::state_view {
  public:
    changed_view(std::shared_ptr<const storage::registry::state::state_view> of, const apply_change& change,
                 std::shared_ptr<const moment> now)
        : x_of(std::move(of)), x_change(change), x_moment(std::move(now)) {}

    bool read(std::string_view key, const storage::registry::state::row_reader& reader) const override {
        if (is_hidden(key)) return false;
        auto row = x_of->get(key);
        if (!row) return false;
        if (x_change.row && x_moment->command) x_change.row(*x_moment->command, x_moment->time_ms, key, *row);
        reader(*row);
        return true;
    }
    void scan(std::string_view prefix, std::string_view from,
              const storage::registry::state::row_visitor& visit) const override {
        const bool looks_for_due = x_change.late_by_ms && x_moment->command && prefix == timers;
        bool wanted = true;
        bool told = false;
        // Engines remember when the next timer is due, but not the one whose due was moved: none of them may.
        const std::string soon =
            storage::registry::tables::key_of(storage::registry::tables::table::timer)
                .number(static_cast<std::uint64_t>(x_moment->time_ms + 1))
                .text(
                    std::string(1, static_cast<char>(storage::registry::context::timer_kind::outcome_sweep)));
        x_of->scan(prefix, from, [&](std::string_view key, std::string_view value) {
            if (looks_for_due && !told && key > soon) {
                told = true;
                wanted = visit(soon, "");
            }
            if (wanted && !is_hidden(key)) wanted = visit(key, value);
            return wanted;
        });
        if (looks_for_due && !told && wanted) visit(soon, "");
    }

  private:
    bool is_hidden(std::string_view key) const {
        return x_change.hidden && x_moment->command && x_change.hidden(*x_moment->command, key);
    }
    const std::shared_ptr<const storage::registry::state::state_view> x_of;
    const apply_change& x_change;
    const std::shared_ptr<const moment> x_moment;
};

class changed_apply::changed_store final : public forwarding_store {
  public:
    changed_store(storage::registry::state::state_store& to, const apply_change& change,
                  std::shared_ptr<moment> now)
        : forwarding_store(to), x_change(change), x_moment(std::move(now)) {}

    result<void> write(const storage::registry::state::row_changes& changes) override {
        auto written = x_change.late_by_ms ? x_to.write(with_moved_timers(changes)) : x_to.write(changes);
        if (written) x_moment->command.reset();
        return written;
    }
    std::shared_ptr<const storage::registry::state::state_view> view() const override {
        return std::make_shared<changed_view>(x_to.view(), x_change, x_moment);
    }

  private:
    storage::registry::state::row_changes with_moved_timers(
        const storage::registry::state::row_changes& changes) const {
        storage::registry::state::row_changes all;
        for (const auto& [key, row] : changes) {
            const bool is_timer = key.starts_with(timers) && key.size() > 1 + due_bytes;
            const std::int64_t by_ms =
                is_timer ? x_change.late_by_ms(
                               static_cast<storage::registry::context::timer_kind>(key[1 + due_bytes]))
                         : 0;
            if (!row) all.try_emplace(key);  // fired: as it was read before
            if (row || by_ms != 0) all.insert_or_assign(by_ms == 0 ? key : moved(key, by_ms), row);
        }
        return all;
    }
    const apply_change& x_change;
    const std::shared_ptr<moment> x_moment;
};

changed_apply::changed_apply(const apply_change& change, events::log::partitioned_log& log,
                             storage::registry::state::state_store& store)
    : x_change(change), x_to(store), x_moment(std::make_shared<moment>()) {
    if (change.is_there()) {
        x_log = std::make_unique<changed_log>(log, *this);
        x_store = std::make_unique<changed_store>(store, x_change, x_moment);
    } else {
        x_log = std::make_unique<forwarding_log>(log);
        x_store = std::make_unique<forwarding_store>(store);
    }
}
changed_apply::~changed_apply() = default;

events::log::partitioned_log& changed_apply::log() { return *x_log; }
storage::registry::state::state_store& changed_apply::store() { return *x_store; }

void changed_apply::change(events::log::record& record) {
    const auto before = x_to.view();
    if (x_change.record) x_change.record(record, *before);
    auto command = schemas::commands::open_envelope(record.value.value_or(""));
    if (!command) return;
    const auto position = storage::registry::tables::find_row<storage::registry::engine::engine_position>(
        *before, storage::registry::tables::key_of(storage::registry::tables::table::position));
    x_moment->time_ms = storage::registry::engine::log_time_ms(position ? position->time_ms : 0,
                                                               record.time_ms, command->sender_clock_ms);
    x_moment->command = *std::move(command);
}

}  // namespace herald::test
