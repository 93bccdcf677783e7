// The installation as a whole: how a log begins, and what operators set. Numbers 1, 5, 53, 60 to 69.
#pragma once

#include "schemas/commands/envelope.hpp"
#include "schemas/installation.hpp"
#include "schemas/registry.hpp"

namespace herald::schemas::commands {

/// The first record of a log; identifies the installation.
struct genesis {
    static constexpr command_type type{1};
    static constexpr command_traits traits{.from = sender::operator_};

    uuid log_id{};
    std::uint32_t generation = 1;
    std::uint32_t event_partitions = 0;  // for each event topic
    std::string key_check;
    std::string organization_name;
    std::string admin_email;
    std::string admin_key_hash;
    std::vector<stage> require_approval_for;
    /// Of the previous generation, in hexadecimal digits; empty for the first. A log with a parent gets its
    /// rows by restore_rows: all that GENESIS brings otherwise is among them.
    std::string parent_log_id;
    std::string snapshot_digest;  // over the parent's rows, as they come in restore_rows
    /// The level in force from here on; 0: first_level. So a new installation need not be raised to the level
    /// of the program that began it.
    std::uint32_t level = 0;
    uuid admin_uuid{};  // the administrator's user_uuid: random
    /// Log time of the parent at the snapshot: this log's never lies before it.
    std::int64_t parent_time_ms = 0;
    /// Over the records that came from the parent's log, so that a restore that was cut off goes on only with
    /// the same ones.
    std::string records_digest;
    /// schemas::stored_format of the build that began the log. Its number is frozen. 0: of a build before it.
    std::uint32_t format = 0;

    HERALD_DESCRIBE(log_id, generation, event_partitions, key_check, organization_name, admin_email,
                    admin_key_hash, require_approval_for, parent_log_id, snapshot_digest, level, admin_uuid,
                    parent_time_ms, records_digest, format);
};

/// Raises the level in force (level.hpp), never lowers it. Sent by an operator (`herald raise-level`), or by
/// the node that holds the claim "publisher". Frozen. → nothing
struct raise_level {
    static constexpr command_type type{5};
    static constexpr command_traits traits{.from = sender::node, .passes_full_disk = true};

    std::uint32_t to = 0;

    HERALD_DESCRIBE(to);
};

/// → feature_flag
struct set_feature_flag {
    static constexpr command_type type{53};

    std::string name;
    bool enabled = false;
    std::string content;

    HERALD_DESCRIBE(name, enabled, content);
};

/// Sent by an operator at the machine (`herald admin-key`). → user
struct renew_admin_key {
    static constexpr command_type type{60};
    static constexpr command_traits traits{.from = sender::operator_};

    std::string email;
    std::string key_hash;

    HERALD_DESCRIBE(email, key_hash);
};

/// Sent by `herald init` and at the start of a standalone (--webhooks-by). → nothing
struct set_webhooks_by {
    static constexpr command_type type{61};
    static constexpr command_traits traits{.level = 1, .from = sender::operator_, .passes_full_disk = true};

    schemas::webhooks_by webhooks_by = schemas::webhooks_by::system_admins;

    HERALD_DESCRIBE(webhooks_by);
};

using installation_commands = command_list<genesis, set_feature_flag, renew_admin_key, set_webhooks_by>;
using level_commands = command_list<raise_level>;

}  // namespace herald::schemas::commands
