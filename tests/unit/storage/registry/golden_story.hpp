// The records of the golden log (golden_log_test.cpp), in chapters, a file each. No record depends on what
// apply makes of an earlier one: ids are counted here, so that a rule that changes changes no record.
//
// Each chapter continues where the one before ended, and new records go to the end: the hash of a record
// covers all records before it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/log/log.hpp"
#include "schemas/commands/all.hpp"
#include "storage/registry/state/state.hpp"
#include "tests/support/commands.hpp"

namespace herald::test {

enum class ending : std::uint8_t { done, refused };

struct golden_record {
    std::string what;
    ending expected = ending::done;
    events::log::record record;
    /// Written into the state before the record: what no command can write yet.
    storage::registry::state::row_changes rows;
};

/// Writes the records down. Time goes on by a tenth of a second with each.
class golden_writer {
  public:
    /// Who sends the commands of users.
    schemas::user_id user = admin;
    std::int64_t now_ms = 1'700'000'000'000;

    /// How many entries stages have in their history: each has an id.
    std::uint64_t activities = 0;

    /// The offset of the next record.
    std::uint64_t offset() const noexcept { return x_records.size(); }

    /// Adds a command that succeeds; returns its offset.
    template <schemas::commands::any_command Command>
    std::uint64_t done(const Command& command, std::string_view what = {}) {
        return add(envelope_of(command), what, ending::done);
    }
    /// Adds a command that is refused.
    template <schemas::commands::any_command Command>
    std::uint64_t refused(const Command& command, std::string_view what) {
        return add(envelope_of(command), what, ending::refused);
    }

    /// A user's command has an idempotency key, so that its outcome is a row; others have none, as in a log.
    template <schemas::commands::any_command Command>
    schemas::commands::command_envelope envelope_of(const Command& command) const {
        schemas::commands::request_identity who;
        if constexpr (schemas::commands::traits_of<Command>().from == schemas::commands::sender::user) {
            who = request_of(user);
            who.idempotency_key = "key " + std::to_string(offset());
            who.fingerprint = "fingerprint";
            who.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
            who.request_id = "request-7";
        }
        if constexpr (schemas::commands::traits_of<Command>().from == schemas::commands::sender::signed_url)
            who.principal = user;
        return completed(schemas::commands::make_envelope(command), std::move(who));
    }
    std::uint64_t add(const schemas::commands::command_envelope&, std::string_view what, ending);
    /// nullopt: a tombstone.
    void add_bytes(std::optional<std::string> value, std::string_view what);
    /// Writes a row before the next record.
    void put_before_next(std::string key, std::string row);

    std::vector<golden_record> take() { return std::move(x_records); }

  private:
    schemas::commands::command_envelope completed(schemas::commands::command_envelope,
                                                  schemas::commands::request_identity) const;

    std::vector<golden_record> x_records;
    storage::registry::state::row_changes x_rows;
};

constexpr std::int64_t hour_ms = 3'600'000;
constexpr std::int64_t day_ms = 24 * hour_ms;

// Of users: 1 is the administrator, 2 Ann, 3 Bob, who is a member of Admins; 1, 2 and 3 are also the ids of
// their workspaces.
constexpr schemas::user_id ann{2}, bob{3};

// The built-in roles.
constexpr schemas::role_id read_write{2}, read_only{3};
/// Before the next record, lets everybody do what the role allows in the administrator's workspace, and
/// requires approval for PRODUCTION and a safe scan for STAGING: no command can do so yet.
void permit_everybody(golden_writer&, schemas::role_id);  // golden_story_models.cpp

void tell_of_the_beginning(golden_writer&);  // golden_story.cpp
void tell_of_envelopes(golden_writer&);
void tell_of_users(golden_writer&);
std::uint64_t tell_of_nodes(golden_writer&);  // golden_story_nodes.cpp; returns the publisher's token
void tell_of_webhooks(golden_writer&);        // golden_story_webhooks.cpp
void tell_of_models(golden_writer&);          // golden_story_models.cpp
void tell_of_versions(golden_writer&);
void tell_of_stages(golden_writer&);  // golden_story_stages.cpp
void tell_of_builds(golden_writer&);  // golden_story_scans.cpp
void tell_of_scans(golden_writer&);
void tell_of_promotions(golden_writer&);  // golden_story_stages.cpp
void tell_of_bounds(golden_writer&);      // golden_story_webhooks.cpp
/// `webhooks`: how many have been made before.
void tell_of_news(golden_writer&, std::uint64_t webhooks);
void tell_of_a_month(golden_writer&, std::uint64_t publisher_token);  // golden_story_nodes.cpp
void tell_of_a_raise(golden_writer&, std::uint32_t to_level);
void tell_of_a_late_report(golden_writer&);    // golden_story_scans.cpp
void tell_of_reported_events(golden_writer&);  // golden_story_events.cpp
void tell_of_artifacts(golden_writer&);        // golden_story_artifacts.cpp
void tell_of_deliveries(golden_writer&);       // golden_story_deliveries.cpp
void tell_of_the_registry(golden_writer&);     // golden_story_registry.cpp
void tell_of_governance(golden_writer&);       // golden_story_governance.cpp
void tell_of_identity(golden_writer&);         // golden_story_identity.cpp
void tell_of_restoring(golden_writer&);        // golden_story_restoring.cpp
void tell_of_the_audit(golden_writer&);        // golden_story_audit.cpp

/// All of it.
std::vector<golden_record> golden_story();

}  // namespace herald::test
