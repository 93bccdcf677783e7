#include "storage/deliveries/delivery_history.hpp"

#include <algorithm>

#include "schemas/binary.hpp"
#include "schemas/limits.hpp"
#include "storage/deliveries/history_batch.hpp"
#include "storage/deliveries/history_database.hpp"
#include "storage/deliveries/history_keys.hpp"
#include "storage/deliveries/history_lists.hpp"

namespace herald::storage::deliveries {
namespace {

using schemas::attempt;
using schemas::delivery_row;
using schemas::delivery_state;

const std::string complete_key = history_key('k').end("complete").bytes();

std::string offset_key(std::int32_t partition) {
    return history_key('o').number(static_cast<std::uint64_t>(partition)).bytes();
}

std::string outbox_key(const events::log::topic_partition& where) {
    return history_key('c').text(where.topic).number(static_cast<std::uint64_t>(where.partition)).bytes();
}

std::string varint(std::uint64_t value) {
    std::string bytes;
    schemas::append_varint(bytes, value);
    return bytes;
}

class rocks_delivery_history final : public delivery_history {
  public:
    explicit rocks_delivery_history(std::unique_ptr<history_database> database)
        : x_database(std::move(database)) {}

    delivery_counts deliveries_of_event(std::string_view event_id) const override {
        delivery_counts counts;
        for (const delivery_row& row : rows_of_event(event_id)) {
            if (row.state == delivery_state::delivered)
                ++counts.succeeded;
            else if (row.state == delivery_state::dead)
                ++counts.dead;
            else if (row.state == delivery_state::skipped)
                ++counts.skipped;
            else
                ++counts.pending;
        }
        return counts;
    }

    std::vector<attempt> lost_deliveries_of_event(std::string_view event_id) const override {
        std::vector<attempt> found;
        for (const delivery_row& row : rows_of_event(event_id)) {
            if (row.state == delivery_state::delivered || row.state == delivery_state::waiting) continue;
            if (auto attempts = small_attempts_of(row.id); !attempts.empty())
                found.push_back(std::move(attempts.back().attempt_));
        }
        return found;
    }

    std::vector<delivery_row> rows_of_event(std::string_view event_id) const override {
        return ask<std::vector<delivery_row>>(
            [&](const open_history& open) { return deliveries::rows_of_event(open, event_id); });
    }

    std::optional<delivery_row> find(std::string_view id) const override {
        return ask<std::optional<delivery_row>>(
            [&](const open_history& open) { return read_row(open, delivery_key(id)); });
    }

    std::vector<attempt_in_full> attempts_of_delivery(std::string_view id) const override {
        std::vector<attempt_in_full> found;
        for (small_attempt& each : small_attempts_of(id)) {
            attempt_in_full& full = found.emplace_back();
            full.made = std::move(each.attempt_);
            if (!each.bodies) continue;
            full.has_bodies = true;
            full.made.request_headers = std::move(each.bodies->request_headers);
            full.made.response_headers = std::move(each.bodies->response_headers);
            full.made.response_body = std::move(each.bodies->response_body);
        }
        return found;
    }

    delivery_page list(const delivery_question& asked) const override {
        return ask<delivery_page>([&](const open_history& open) { return list_deliveries(open, asked); });
    }
    delivery_histogram histogram(const histogram_question& asked) const override {
        return ask<delivery_histogram>(
            [&](const open_history& open) { return count_deliveries(open, asked); });
    }
    dead_groups groups_of_dead(schemas::workspace_id workspace,
                               const delivery_judge& may_see) const override {
        return ask<dead_groups>(
            [&](const open_history& open) { return group_dead(open, workspace, may_see); });
    }
    webhook_record record_of(schemas::workspace_id workspace, schemas::webhook_id webhook,
                             std::int64_t now_ms) const override {
        return ask<webhook_record>(
            [&](const open_history& open) { return record_of_webhook(open, workspace, webhook, now_ms); });
    }
    schemas::replay_outcomes outcomes_of_replay(std::uint64_t replay) const override {
        return ask<schemas::replay_outcomes>([&](const open_history& open) {
            schemas::replay_outcomes outcomes;
            if (const auto value = open.get(history_key('Y').number(replay).bytes()))
                schemas::decode_into(outcomes, *value);
            return outcomes;
        });
    }
    std::int64_t complete_from_ms() const override {
        return ask<std::int64_t>([&](const open_history& open) {
            const auto value = open.get(complete_key);
            return static_cast<std::int64_t>(value ? count_in(*value) : 0);
        });
    }
    std::int64_t bodies_kept_from_ms() const override {
        return ask<std::int64_t>([&](const open_history& open) {
            const std::unique_ptr<rocksdb::Iterator> row(open.db().NewIterator({}, open.bodies()));
            row->SeekToFirst();
            if (!row->Valid() || row->key().size() < 8) return std::int64_t{0};
            return static_cast<std::int64_t>(schemas::read_big_endian(row->key().ToStringView()));
        });
    }

    void keep(std::int32_t partition, const std::vector<placed_attempt>& read,
              std::uint64_t next_offset) override {
        x_database->write([&](const open_history& open, rocksdb::WriteBatch& batch) {
            history_batch changes(open, batch);
            for (const auto& [offset, made] : read) changes.keep(partition, offset, made);
            changes.finish();
            changes.put(offset_key(partition), varint(next_offset));
            std::atomic<std::int64_t>& newest_ms = x_database->age().newest_ms;
            newest_ms = std::max<std::int64_t>(newest_ms, changes.newest_ms());
        });
    }
    std::uint64_t next_offset(std::int32_t partition) const override {
        return ask<std::uint64_t>([&](const open_history& open) {
            const auto value = open.get(offset_key(partition));
            return value ? count_in(*value) : 0;
        });
    }
    void lacks_before(std::int64_t time_ms) override {
        if (time_ms <= complete_from_ms()) return;
        x_database->write([&](const open_history& open, rocksdb::WriteBatch& batch) {
            batch.Put(open.rows(), complete_key, varint(static_cast<std::uint64_t>(time_ms)));
        });
    }
    void expect(const events::log::topic_partition& where, const std::vector<delivery_row>& rows,
                std::uint64_t next_sequence) override {
        x_database->write([&](const open_history& open, rocksdb::WriteBatch& batch) {
            history_batch changes(open, batch);
            for (const delivery_row& each : rows) changes.expect(each);
            changes.finish();
            changes.put(outbox_key(where), varint(next_sequence));
        });
    }
    std::uint64_t next_expected(const events::log::topic_partition& where) const override {
        return ask<std::uint64_t>([&](const open_history& open) -> std::uint64_t {
            const auto value = open.get(outbox_key(where));
            return value ? count_in(*value) : 1;
        });
    }

  private:
    struct small_attempt {
        attempt attempt_;
        std::optional<schemas::attempt_bodies> bodies;
    };

    /// What `question` finds, or nothing while the database cannot be opened.
    template <class Found, class Question>
    Found ask(const Question& question) const {
        Found found{};
        x_database->with([&](const open_history& open) { found = question(open); });
        return found;
    }

    /// Oldest first.
    std::vector<small_attempt> small_attempts_of(std::string_view id) const {
        return ask<std::vector<small_attempt>>([&](const open_history& open) {
            std::vector<small_attempt> found;
            const std::string prefix = history_key('a').text(id).bytes();
            const auto row = open.iterate();
            for (row->Seek(prefix); row->Valid() && row->key().starts_with(prefix); row->Next()) {
                auto made = schemas::decode<attempt>(row->value().ToStringView());
                if (!made) continue;
                // The rest of the key: time, partition, offset.
                const std::string_view rest = row->key().ToStringView().substr(prefix.size());
                const std::string key =
                    history_key().end(rest.substr(0, 8)).text(id).end(rest.substr(8)).bytes();
                small_attempt& one = found.emplace_back(*std::move(made), std::nullopt);
                std::string value;
                if (one.attempt_.number != 0 && open.db().Get({}, open.bodies(), key, &value).ok())
                    if (auto bodies = schemas::decode<schemas::attempt_bodies>(value))
                        one.bodies = *std::move(bodies);
                if (found.size() >= limits::list_rows_max) break;
            }
            return found;
        });
    }

    const std::unique_ptr<history_database> x_database;
};

}  // namespace

result<std::unique_ptr<delivery_history>> open_delivery_history(const std::filesystem::path& folder,
                                                                std::size_t open_files_max) {
    auto database = history_database::open(folder, open_files_max);
    if (!database) return database.error();
    return std::unique_ptr<delivery_history>(std::make_unique<rocks_delivery_history>(*std::move(database)));
}

}  // namespace herald::storage::deliveries
