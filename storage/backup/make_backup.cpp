#include "storage/backup/make_backup.hpp"

#include <algorithm>
#include <map>

#include "events/event_topic.hpp"
#include "events/log/topics.hpp"
#include "schemas/binary.hpp"
#include "schemas/webhooks.hpp"
#include "storage/backup/limits.hpp"
#include "storage/backup/log_reading.hpp"
#include "storage/node/outbox_view.hpp"
#include "storage/registry/tables/content.hpp"
#include "storage/registry/tables/installation.hpp"
#include "storage/registry/tables/outbox.hpp"
#include "storage/registry/tables/position.hpp"

namespace herald::storage::backup {
namespace {

namespace tables = registry::tables;
using events::log::offset_range;
using events::log::partitioned_log;
using events::log::record;
using events::log::topic_partition;
using events::log::topic_settings;
using node::place_of;

bool is_event_topic(std::string_view topic) {
    return std::find(events::event_topics.begin(), events::event_topics.end(), topic) !=
           events::event_topics.end();
}

/// Records that can be made again from the state, or stay behind.
bool is_left(std::string_view topic) {
    namespace all = events::log::topic;
    return topic == all::commands || topic == all::subscribers || topic == all::attempts;
}

/// One backup on its way into its file.
class backup_maker {
  public:
    backup_maker(const backup_source& from, backup_writer& to)
        : x_source(from), x_state(from.state), x_log(from.log), x_to(to) {}

    result<backup_end> make(const backup_header& header) {
        x_header = header;
        if (const auto begun = x_to.begin(header); !begun) return begun.error();
        // Before the rows: a delivery that is not finished now is found behind these places.
        if (const auto found = find_places(); !found) return found.error();
        if (const auto put = put_rows(); !put) return put.error();
        for (const topic_settings& topic : events::log::all_topics)
            if (!is_left(topic.name))
                if (const auto put = put_records(topic); !put) return put.error();
        if (const auto put = put_unpublished(); !put) return put.error();
        if (const auto put = flush_records(); !put) return put.error();
        x_end.content_digest = tables::content::digest(x_state);
        if (x_source.check)
            if (const auto compared = x_source.check(x_state, x_end, x_source.stop); !compared)
                return compared.error();
        return x_end;
    }

  private:
    result<void> find_places() {
        for (const topic_settings& topic : events::log::all_topics) {
            if (is_left(topic.name)) continue;
            if (topic.group.empty()) continue;
            auto places = x_log.committed(std::string(topic.name));
            if (!places) return places.error();
            x_places[topic.name] = *std::move(places);
        }
        return {};
    }

    result<void> put_rows() {
        schemas::commands::restore_rows piece;
        std::size_t bytes = 0;
        result<void> written;
        const auto flush = [&] {
            if (piece.rows.empty()) return true;
            x_end.rows_digest = tables::content::digest_after(x_end.rows_digest, piece.rows);
            x_end.rows += piece.rows.size();
            ++x_end.pieces;
            written = x_to.add(piece);
            ++piece.piece;
            piece.rows.clear();
            bytes = 0;
            return written.has_value();
        };
        tables::content::each_carried(x_state, [&](std::string_view key, std::string_view value) {
            if (bytes + key.size() + value.size() > limits::backup_piece_bytes_max && !flush()) return false;
            piece.rows.push_back({std::string(key), std::string(value)});
            bytes += key.size() + value.size();
            return piece.rows.size() < limits::backup_piece_rows_max || flush();
        });
        if (written) flush();
        return written;
    }

    result<void> put_records(const topic_settings& topic) {
        const std::string name(topic.name);
        const auto partitions = x_log.partitions(name);
        if (!partitions) return partitions.error();
        for (std::int32_t number = 0; number < *partitions; ++number) {
            const topic_partition where{name, number};
            const auto range = range_of(x_log, where);
            if (!range) return range.error();
            std::int64_t from = range->first;
            if (const auto places = x_places.find(topic.name); places != x_places.end())
                from = std::max(from, places->second[static_cast<std::size_t>(number)]);
            const bool has_events = is_event_topic(topic.name);
            if (has_events)
                if (const auto found = find_published(where, *range); !found) return found;
            const auto put = each_record(x_log, where, from, range->next, [&](const record& one) {
                return has_events ? put_event(where, one) : put_delivery(where, one);
            });
            if (!put) return put;
        }
        return {};
    }

    /// The last sequence that this partition's topic has; put_event() finds the next ones.
    result<void> find_published(const topic_partition& where, const offset_range& range) {
        std::uint64_t& last = x_published[where];
        last = tables::outbox::published(x_state, place_of(where));
        const auto event = last_event(x_log, where, range);
        if (!event) return event.error();
        if (*event) last = std::max(last, sequence_of(**event));
        return {};
    }

    /// 0: of another generation.
    std::uint64_t sequence_of(const schemas::event& event) const {
        return event.generation == x_header.log.generation ? event.partition_sequence : 0;
    }

    /// An event of a command that is not in the state is left out: there is no such command any more.
    bool is_in_state(const schemas::event& event) const {
        return event.generation != x_header.log.generation || event.offset < x_header.next_offset;
    }

    result<void> put_event(const topic_partition& where, const record& one) {
        auto event = schemas::decode<schemas::event>(one.value.value_or(""));
        if (!event || !is_in_state(*event)) return {};
        x_published[where] = std::max(x_published[where], sequence_of(*event));
        return put_numbered(where, *std::move(event));
    }

    /// Sequences begin anew in the other log, and must be dense there.
    result<void> put_numbered(const topic_partition& where, schemas::event event) {
        event.partition_sequence = ++x_sequences[{where, event.generation}];
        return put({where.topic, static_cast<std::uint32_t>(where.partition), event.resource_id,
                    schemas::encode(event)});
    }

    result<void> put_delivery(const topic_partition& where, const record& one) {
        if (!one.value) return {};
        const auto delivery = schemas::decode<schemas::delivery>(*one.value);
        if (delivery && !is_in_state(delivery->event)) return {};
        return put({where.topic, static_cast<std::uint32_t>(where.partition), one.key, *one.value});
    }

    result<void> put_unpublished() {
        result<void> put;
        for (const auto& [where, last] : x_published) {
            tables::outbox::each_of(x_state, place_of(where), last + 1,
                                    [&](const schemas::event& event, std::string_view) {
                                        put = put_numbered(where, event);
                                        return put.has_value();
                                    });
            if (!put) return put;
        }
        return put;
    }

    result<void> put(carried_record one) {
        x_bytes += one.key.size() + one.value.size();
        x_records.records.push_back(std::move(one));
        ++x_end.records;
        const bool is_full = x_records.records.size() >= limits::backup_records_per_part ||
                             x_bytes >= limits::backup_records_bytes_max;
        return is_full ? flush_records() : result<void>();
    }

    result<void> flush_records() {
        if (x_records.records.empty()) return {};
        x_bytes = 0;
        x_end.records_digest = records_digest_after(x_end.records_digest, schemas::encode(x_records));
        return x_to.add(std::exchange(x_records, {}));
    }

    const backup_source& x_source;
    const registry::state::state_view& x_state;
    partitioned_log& x_log;
    backup_writer& x_to;
    backup_header x_header;
    backup_end x_end;
    std::map<std::string_view, std::vector<std::int64_t>> x_places;  // where groups go on
    std::map<topic_partition, std::uint64_t> x_published;
    std::map<std::pair<topic_partition, std::uint32_t>, std::uint64_t> x_sequences;
    carried_records x_records;
    std::size_t x_bytes = 0;
};

}  // namespace

result<backup_summary> make_backup(const backup_source& from, const std::filesystem::path& file,
                                   std::int64_t now_ms) {
    const registry::state::state_view& state = from.state;
    const auto position = tables::positions::find(state);
    const auto installation = tables::installation::find(state);
    if (!position || !installation)
        return runtime::failed_precondition(
            "there is no installation here yet, so there is nothing to back up");
    if (const auto progress = tables::restoring::find(state); progress && !progress->is_done)
        return runtime::failed_precondition("this installation is still being restored itself");
    backup_header header;
    header.log = *installation;
    header.level = tables::level_in_force(state);
    header.next_offset = position->next_offset;
    header.time_ms = position->time_ms;
    header.made_ms = now_ms;
    backup_summary made;
    made.header = header;
    backup_writer writer(file, from.stop);
    const auto end = backup_maker(from, writer).make(header);
    if (!end) return end.error();
    made.end = *end;
    const auto bytes = writer.finish(*end);
    if (!bytes) return bytes.error();
    made.bytes = *bytes;
    return made;
}

}  // namespace herald::storage::backup
