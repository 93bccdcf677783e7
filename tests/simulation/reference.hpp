// What must follow from the command log: applied once more by one engine without faults, and judged by rules
// that are written here a second time, independently of the product.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "events/log/log.hpp"
#include "storage/registry/engine/engine.hpp"
#include "tests/simulation/changed_apply.hpp"
#include "tests/simulation/log_rules.hpp"

namespace herald::test {

/// An event that a command must have caused, and its audience.
struct expected_event {
    std::uint64_t offset = 0;
    schemas::event_type type = schemas::event_type::promote;
    std::string resource_id;
    std::set<std::uint64_t> audience;
};

/// Whether a webhook asked for such events.
bool wants(const schemas::webhook&, schemas::event_type, schemas::resource_type);

class reference {
  public:
    /// Reads the whole command log and checks the results against the rules of apply.
    reference(events::log::partitioned_log&, const apply_change&);

    const storage::registry::state::state_store& store() const { return *x_store; }
    const std::string& hash() const { return x_engine->position().hash; }
    std::uint64_t next_offset() const { return x_engine->position().next_offset; }
    std::uint32_t generation() const { return x_engine->installation()->generation; }
    std::uint32_t event_partitions() const { return x_engine->installation()->event_partitions; }
    /// Hash after each record, by offset.
    const std::map<std::uint64_t, std::string>& hashes() const { return x_hashes; }
    /// Everything that apply put into the outbox, in order.
    const std::vector<schemas::event>& outbox() const { return x_outbox; }
    /// Log time of a record.
    std::int64_t time_ms(std::uint64_t offset) const { return x_times.at(offset); }
    /// Offsets at which a command with this id took effect.
    std::vector<std::uint64_t> effects(const schemas::uuid& command) const;
    bool took_effect(std::uint64_t offset) const;
    std::optional<storage::registry::engine::applied_record> at(std::uint64_t offset) const;
    /// PROMOTE and REQUEST_SCAN events by cause; those without an audience are left out.
    const std::vector<expected_event>& expected() const { return x_expected; }
    /// The webhooks that must get such an event at that offset.
    std::set<std::uint64_t> audience(std::uint64_t offset, schemas::event_type, schemas::resource_type) const;
    bool was_deleted(std::uint64_t webhook) const;
    /// The offset from which on the webhook that had this place has another; UINT64_MAX: never.
    std::uint64_t left_at(const std::string& place) const;

    /// Every record of a partition.
    static std::vector<events::log::record> read_all(events::log::partitioned_log&,
                                                     const events::log::topic_partition&);

  private:
    struct hook {
        schemas::webhook row;
        std::uint64_t created = 0;
        std::uint64_t deleted = UINT64_MAX;
    };
    void learn(const schemas::commands::command_envelope&, const storage::registry::engine::applied_record&);
    void note_events(std::uint64_t offset, std::int64_t time_ms);
    void judge_outbox(std::int64_t time_ms);

    std::unique_ptr<storage::registry::state::state_store> x_store =
        storage::registry::state::make_memory_state();
    std::optional<changed_apply> x_changed;
    std::unique_ptr<storage::registry::engine::engine> x_engine;
    std::map<std::uint64_t, storage::registry::engine::applied_record> x_applied;
    std::map<std::uint64_t, std::string> x_hashes;
    std::map<std::uint64_t, std::int64_t> x_times;
    std::map<schemas::uuid, std::vector<std::uint64_t>> x_effects;
    std::map<std::uint64_t, hook> x_hooks;
    std::map<std::string, std::uint64_t> x_left_at;     // by place; each is of one webhook, once
    std::map<std::uint64_t, schemas::stage> x_desired;  // by transition
    std::vector<expected_event> x_expected;
    std::vector<schemas::event> x_outbox;
    std::map<std::string, std::int64_t> x_outbox_rows;  // by key, with start times
    std::int64_t x_outbox_judged_ms = 0;
};

}  // namespace herald::test
