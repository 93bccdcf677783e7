// A registry state for the publisher's tests.
#pragma once

#include <map>

#include "events/log/limits.hpp"
#include "events/outbox.hpp"
#include "schemas/binary.hpp"

namespace herald::test {

inline const events::log::topic_partition promote_0{"events.promote", 0};
inline const events::log::topic_partition promote_1{"events.promote", 1};

/// Output partitions; their rows are events that contain only their place.
struct fake_outbox final : events::outbox {
    std::uint32_t generation() const override { return generation_number; }
    std::vector<events::log::topic_partition> output_partitions() const override {
        std::vector<events::log::topic_partition> all;
        for (std::size_t each = 0; each < partitions; ++each)
            all.push_back({"events.promote", static_cast<std::int32_t>(each)});
        return all;
    }
    std::uint64_t published(const events::log::topic_partition& where) const override {
        const auto found = published_up_to.find(where);
        return found == published_up_to.end() ? 0 : found->second;
    }
    std::vector<events::outbox_row> rows(const events::log::topic_partition& where, std::uint64_t from,
                                         std::size_t rows_max, std::size_t bytes_max) const override {
        std::vector<events::outbox_row> found;
        std::size_t bytes = 0;
        const auto last = last_sequence.find(where);
        for (std::uint64_t sequence = from; last != last_sequence.end() && sequence <= last->second &&
                                            found.size() < rows_max && bytes < bytes_max;
             ++sequence) {
            found.push_back({sequence, "key", event_with(sequence)});
            bytes += found.back().value.size();
        }
        bytes_read_at_once = std::max(bytes_read_at_once, bytes);
        return found;
    }
    std::uint64_t last_subscriber_change() const override {
        return changes.empty() ? 0 : changes.back().offset;
    }
    std::vector<events::subscriber_change> subscriber_changes(std::uint64_t after,
                                                              std::size_t) const override {
        std::vector<events::subscriber_change> found;
        for (const events::subscriber_change& change : changes)
            if (change.offset > after) found.push_back(change);
        return found;
    }
    std::vector<schemas::subscriber> subscribers() const override {
        std::map<schemas::webhook_id, schemas::subscriber> newest;
        for (const events::subscriber_change& change : changes) {
            newest.erase(change.webhook_id);
            if (change.row) newest[change.webhook_id] = *change.row;
        }
        std::vector<schemas::subscriber> found;
        for (const auto& [id, row] : newest) found.push_back(row);
        return found;
    }

    std::string event_with(std::uint64_t sequence) const {
        schemas::event event;
        event.generation = generation_number;
        event.partition_sequence = sequence;
        event.id = "event " + std::to_string(sequence);
        const bool is_large = sequence > 0 && sequence == large_sequence;
        event.body.assign(is_large ? limits::record_bytes_max : body_bytes, 'x');
        return schemas::encode(event);
    }
    void webhook_changes(std::uint64_t offset, std::uint64_t id) {
        schemas::subscriber row;
        row.webhook_id = schemas::webhook_id{id};
        row.revision = offset;
        row.settings.location = "https://receiver.example/" + std::to_string(offset);
        changes.push_back({offset, row.webhook_id, row});
    }
    void webhook_is_deleted(std::uint64_t offset, std::uint64_t id) {
        changes.push_back({offset, schemas::webhook_id{id}, std::nullopt});
    }

    std::uint32_t generation_number = 1;
    std::size_t partitions = 2;
    std::size_t body_bytes = 0;        // of each event
    std::uint64_t large_sequence = 0;  // of the event that the log refuses
    mutable std::size_t bytes_read_at_once = 0;
    std::map<events::log::topic_partition, std::uint64_t> published_up_to;
    std::map<events::log::topic_partition, std::uint64_t> last_sequence;
    std::vector<events::subscriber_change> changes;
};

}  // namespace herald::test
