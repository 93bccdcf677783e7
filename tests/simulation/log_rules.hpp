// The rules of design.md §1 and those of wire.md §3 for promotions, written a second time, independently of
// the product: the engine's result for each record of the command log is checked against them. Each throws
// rule_broken.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "events/log/log.hpp"
#include "schemas/commands/all.hpp"
#include "storage/registry/engine/engine.hpp"
#include "storage/registry/tables/outbox.hpp"

namespace herald::test {

class log_rules {
  public:
    /// `state` is the engine's, written after each record; it must outlive this object.
    explicit log_rules(const storage::registry::state::state_store& state) : x_state(state) {}

    /// The engine has applied `record`, the next of the log.
    void judge(const events::log::record& record, const storage::registry::engine::applied_record& done);

  private:
    /// A command and its result.
    struct applied {
        const schemas::commands::command_envelope& command;
        const storage::registry::engine::applied_record& done;
        bool took_effect = false;
    };
    struct kept_answer {
        std::int64_t time_ms = 0;
        schemas::commands::outcome outcome;
        std::string fingerprint;
    };
    struct member {
        schemas::uuid boot{};
        std::int64_t heard_ms = 0;
        std::uint64_t boot_offset = 0;
        std::uint32_t newest_level = 0;
    };

    struct wanted_stage {
        std::uint64_t version = 0;
        schemas::stage desired = schemas::stage::unknown;
        auto operator<=>(const wanted_stage&) const = default;
    };

    void judge_time(const events::log::record&, const schemas::commands::command_envelope&);
    bool is_entitled(const applied&);
    void judge_repeat(const applied&);
    void judge_heartbeat(const applied&);
    void judge_published(const schemas::commands::node_heartbeat&);
    void judge_claim(const applied&);
    void judge_raise(const applied&);
    void judge_health(const applied&);
    void judge_transition(const applied&);
    void judge_commit(const applied&);
    void judge_completion(const applied&);
    /// It is closed or committed.
    void end_transition(std::uint64_t id);
    void learn(const applied&);
    void judge_timers();
    void end_lost_scans(const schemas::scan& newer);
    void judge_scans(bool all_have_fired);
    void judge_webhooks(bool all_have_fired);
    bool is_disable_due(std::uint64_t webhook) const;

    const storage::registry::state::state_store& x_state;
    std::shared_ptr<const storage::registry::state::state_view> x_now;  // while a record is being judged
    std::uint64_t x_offset = 0;
    std::optional<schemas::commands::genesis> x_genesis;
    std::int64_t x_time_ms = 0;
    std::uint32_t x_level = schemas::commands::first_level;        // the level in force
    std::int64_t x_senders_ms = 0;                                 // the most advanced sender's clock
    std::map<std::uint64_t, std::set<std::string>> x_credentials;  // by user
    std::map<std::tuple<std::uint64_t, std::string, std::string>, kept_answer> x_answers;
    std::map<std::string, member> x_members;
    std::map<std::string, schemas::claim_row> x_claims;
    std::map<storage::registry::tables::output_partition, std::uint64_t> x_published;
    std::map<std::uint64_t, wanted_stage> x_transitions;
    std::map<wanted_stage, std::uint64_t> x_open_transitions;
    std::map<std::uint64_t, std::int64_t> x_promotions;    // versions, each with the time of its commit
    std::map<std::uint64_t, std::int64_t> x_open_scans;    // each with its start time
    std::map<std::uint64_t, std::int64_t> x_disable_at;    // webhooks that only fail
    std::map<std::uint64_t, schemas::webhook> x_webhooks;  // before the record
};

}  // namespace herald::test
