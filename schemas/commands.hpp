// What can be appended to registry.commands: the envelope, frozen for ever, and the bodies by type (design.md
// §1).
#pragma once

#include "runtime/error.hpp"
#include "schemas/deployment.hpp"
#include "schemas/identity.hpp"
#include "schemas/registry.hpp"
#include "schemas/webhooks.hpp"

namespace herald::schemas {

/// Frozen numbers. A well-formed envelope of a type that this program does not know stops the applier.
enum class command_type : std::uint16_t {
    genesis = 1,
    no_operation = 2,
    node_heartbeat = 3,
    claim = 4,
    create_user = 10,
    add_group_users = 11,
    create_model = 20,
    create_version = 21,
    update_version = 22,
    create_transition = 30,
    review_transition = 31,
    close_transition = 32,
    commit_transition = 33,
    fail_promotion = 34,
    create_build = 40,
    request_scan = 41,
    report_scan = 42,
    request_version_scan = 43,
    create_webhook = 50,
    delete_webhooks = 51,
    webhook_health = 52,
    set_feature_flag = 53,
    renew_admin_key = 60,
};

/// Features a program must have to apply a command; raised when a new type or a new rule is added.
constexpr std::uint32_t feature_level = 1;

/// Who asks, and what makes a repeat of a request safe (design.md §1 "Repeats").
struct request_identity {
    user_id principal;            // none for commands of nodes
    std::string credential_hash;  // SHA-256 of the developer key that was shown
    std::string scope;            // "POST /api/v1/…": method and path
    std::string idempotency_key;  // empty: no row is kept
    std::string fingerprint;      // SHA-256 of query and raw body
    std::string address;          // of the caller, for the audit log
    std::string traceparent;      // W3C trace context, passed on to deliveries

    static void describe(auto& self, auto&& field) {
        field(1, "principal", self.principal);
        field(2, "credential_hash", self.credential_hash);
        field(3, "scope", self.scope);
        field(4, "idempotency_key", self.idempotency_key);
        field(5, "fingerprint", self.fingerprint);
        field(6, "address", self.address);
        field(7, "traceparent", self.traceparent);
    }
};

struct command_envelope {
    uuid log_id{};
    std::uint32_t generation = 0;
    uuid command_id{};
    request_identity request;
    std::int64_t sender_clock_ms = 0;
    std::int64_t not_after_ms = 0;
    std::uint32_t level = feature_level;
    command_type type = command_type::no_operation;
    std::string body;  // the binary form of the type's struct

    static void describe(auto& self, auto&& field) {
        field(1, "log_id", self.log_id);
        field(2, "generation", self.generation);
        field(3, "command_id", self.command_id);
        field(4, "request", self.request);
        field(5, "sender_clock_ms", self.sender_clock_ms);
        field(6, "not_after_ms", self.not_after_ms);
        field(7, "level", self.level);
        field(8, "type", self.type);
        field(9, "body", self.body);
    }
};

/// magic "HRC1" ‖ first 8 bytes of SHA-256(rest) ‖ binary form of the envelope.
std::string seal_envelope(const command_envelope&);
/// invalid_argument when the magic or the checksum is wrong or the rest is not an envelope. Every version
/// refuses the same bytes; the log id is for the applier to compare.
result<command_envelope> open_envelope(std::string_view record_value);

/// What apply decided, kept for a repeat and returned to the sender. The answer is always made of this.
struct outcome {
    std::uint32_t code = 0;  // 0: success, else an error_code
    std::string message;
    std::string body;      // the binary form of the type's answer (see the commands below)
    uuid command_id{};     // of the command that took effect: minted secrets derive from it
    std::string key_name;  // key ring key that minted secrets derive from
    std::uint64_t offset = 0;
    std::string fingerprint;

    static void describe(auto& self, auto&& field) {
        field(1, "code", self.code);
        field(2, "message", self.message);
        field(3, "body", self.body);
        field(4, "command_id", self.command_id);
        field(5, "key_name", self.key_name);
        field(6, "offset", self.offset);
        field(7, "fingerprint", self.fingerprint);
    }
};

// ---- the bodies; "→" names the answer in outcome.body
// -------------------------------------------------------------

/// The first record of a log; says what the installation is.
struct genesis {
    static constexpr command_type type = command_type::genesis;
    uuid log_id{};
    std::uint32_t generation = 1;
    std::uint32_t event_partitions = 0;  // of each event topic
    std::string key_check;
    std::string organization_name;
    std::string admin_email;
    std::string admin_key_hash;
    std::vector<stage> require_approval_for;
    std::string parent_log_id;  // of the generation before; empty for the first
    std::string snapshot_digest;

    static void describe(auto& self, auto&& field) {
        field(1, "log_id", self.log_id);
        field(2, "generation", self.generation);
        field(3, "event_partitions", self.event_partitions);
        field(4, "key_check", self.key_check);
        field(5, "organization_name", self.organization_name);
        field(6, "admin_email", self.admin_email);
        field(7, "admin_key_hash", self.admin_key_hash);
        field(8, "require_approval_for", self.require_approval_for);
        field(9, "parent_log_id", self.parent_log_id);
        field(10, "snapshot_digest", self.snapshot_digest);
    }
};

struct no_operation {
    static constexpr command_type type = command_type::no_operation;
    static void describe(auto&, auto&&) {}
};

/// How far the publisher got in one output partition.
struct published_position {
    std::string topic;
    std::uint32_t partition = 0;
    std::uint64_t sequence = 0;

    static void describe(auto& self, auto&& field) {
        field(1, "topic", self.topic);
        field(2, "partition", self.partition);
        field(3, "sequence", self.sequence);
    }
};

struct node_heartbeat {
    static constexpr command_type type = command_type::node_heartbeat;
    std::string node;
    uuid boot{};
    std::uint64_t applied_offset = 0;  // of the node's newest record when it spoke
    // Apply does not look at these three; the other nodes compare them with what they have (peer_hashes.hpp).
    std::string record_hash;  // SHA-256 of that record
    std::string state_hash;   // the state's rolling hash after it
    /// Somebody differs, and the node has read its records in the log again since: they are the log's.
    bool vouches = false;
    std::uint32_t level = feature_level;
    std::vector<published_position> published;  // from the publisher only
    std::uint64_t publisher_token = 0;
    /// The boot's first: only it may replace another boot of the same node.
    bool first = false;
    /// The boot's last: its claims are free.
    bool last = false;

    static void describe(auto& self, auto&& field) {
        field(1, "node", self.node);
        field(2, "boot", self.boot);
        field(3, "applied_offset", self.applied_offset);
        field(4, "record_hash", self.record_hash);
        field(5, "state_hash", self.state_hash);
        field(6, "level", self.level);
        field(7, "published", self.published);
        field(8, "publisher_token", self.publisher_token);
        field(9, "first", self.first);
        field(10, "last", self.last);
        field(11, "vouches", self.vouches);
    }
};

/// Asks for a job ("publisher", "webhook-health"); first wins. → claim_row
struct claim {
    static constexpr command_type type = command_type::claim;
    std::string job;
    std::string node;
    uuid boot{};

    static void describe(auto& self, auto&& field) {
        field(1, "job", self.job);
        field(2, "node", self.node);
        field(3, "boot", self.boot);
    }
};

/// → user. The developer key is minted: HMAC(key ring key, command id ‖ "developer-key").
struct create_user {
    static constexpr command_type type = command_type::create_user;
    std::string email;
    std::string username;
    std::string full_name;
    std::string key_name;
    std::string key_hash;
    bool service_account = false;

    static void describe(auto& self, auto&& field) {
        field(1, "email", self.email);
        field(2, "username", self.username);
        field(3, "full_name", self.full_name);
        field(4, "key_name", self.key_name);
        field(5, "key_hash", self.key_hash);
        field(6, "service_account", self.service_account);
    }
};

/// → group
struct add_group_users {
    static constexpr command_type type = command_type::add_group_users;
    organization_id org_id;
    schemas::group_id group_id;
    std::vector<schemas::user_id> user_id;

    static void describe(auto& self, auto&& field) {
        field(1, "org_id", self.org_id);
        field(2, "group_id", self.group_id);
        field(3, "user_id", self.user_id);
    }
};

/// → registered_model. Only the fields a client may set are read from `model`.
struct create_model {
    static constexpr command_type type = command_type::create_model;
    std::string workspace_name;
    registered_model model;

    static void describe(auto& self, auto&& field) {
        field(1, "workspace_name", self.workspace_name);
        field(2, "model", self.model);
    }
};

/// → model_version. The model by id, or by workspace and name.
struct create_version {
    static constexpr command_type type = command_type::create_version;
    model_id registered_model_id;
    std::string workspace_name;
    std::string model_name;
    model_version version;

    static void describe(auto& self, auto&& field) {
        field(1, "registered_model_id", self.registered_model_id);
        field(2, "workspace_name", self.workspace_name);
        field(3, "model_name", self.model_name);
        field(4, "version", self.version);
    }
};

enum class update_mode : std::uint8_t { merge, replace };  // PATCH, PUT

/// → model_version. With a non-empty redirect_metadata while a promotion is in progress: its completion, and
/// nothing else (wire.md "Promotion status").
struct update_version {
    static constexpr command_type type = command_type::update_version;
    version_id id;
    model_id registered_model_id;  // of the path; none in forms without it
    update_mode mode = update_mode::merge;
    std::vector<std::string> present;  // names of the members that the body had
    model_version version;

    static void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "registered_model_id", self.registered_model_id);
        field(3, "mode", self.mode);
        field(4, "present", self.present);
        field(5, "version", self.version);
    }
};

/// → activity
struct create_transition {
    static constexpr command_type type = command_type::create_transition;
    version_id model_version_id;
    stage desired_stage = stage::unknown;
    std::string comment;

    static void describe(auto& self, auto&& field) {
        field(1, "model_version_id", self.model_version_id);
        field(2, "desired_stage", self.desired_stage);
        field(3, "comment", self.comment);
    }
};

/// → activity. Approves or rejects.
struct review_transition {
    static constexpr command_type type = command_type::review_transition;
    activity_id transition_id;
    bool approve = false;
    std::string comment;

    static void describe(auto& self, auto&& field) {
        field(1, "transition_id", self.transition_id);
        field(2, "approve", self.approve);
        field(3, "comment", self.comment);
    }
};

/// → activity
struct close_transition {
    static constexpr command_type type = command_type::close_transition;
    activity_id transition_id;
    std::string comment;

    static void describe(auto& self, auto&& field) {
        field(1, "transition_id", self.transition_id);
        field(2, "comment", self.comment);
    }
};

/// → activity
struct commit_transition {
    static constexpr command_type type = command_type::commit_transition;
    activity_id transition_id;
    std::string comment;

    static void describe(auto& self, auto&& field) {
        field(1, "transition_id", self.transition_id);
        field(2, "comment", self.comment);
    }
};

/// → promotion
struct fail_promotion {
    static constexpr command_type type = command_type::fail_promotion;
    version_id model_version_id;
    std::string reason;

    static void describe(auto& self, auto&& field) {
        field(1, "model_version_id", self.model_version_id);
        field(2, "reason", self.reason);
    }
};

/// → build
struct create_build {
    static constexpr command_type type = command_type::create_build;
    std::string workspace_name;
    version_id model_version_id;
    std::string external_location;
    std::string upstream_url;
    bool requires_root = false;
    bool scan_external = false;
    bool self_contained = false;
    bool uses_flask = false;
    json_text creator_request;  // the body as it came

    static void describe(auto& self, auto&& field) {
        field(1, "workspace_name", self.workspace_name);
        field(2, "model_version_id", self.model_version_id);
        field(3, "external_location", self.external_location);
        field(4, "upstream_url", self.upstream_url);
        field(5, "requires_root", self.requires_root);
        field(6, "scan_external", self.scan_external);
        field(7, "self_contained", self.self_contained);
        field(8, "uses_flask", self.uses_flask);
        field(9, "creator_request", self.creator_request);
    }
};

/// → scan
struct request_scan {
    static constexpr command_type type = command_type::request_scan;
    std::string workspace_name;
    schemas::build_id build_id;
    json_text creator_request;

    static void describe(auto& self, auto&& field) {
        field(1, "workspace_name", self.workspace_name);
        field(2, "build_id", self.build_id);
        field(3, "creator_request", self.creator_request);
    }
};

/// Takes the newest finished build of the version. → scan
struct request_version_scan {
    static constexpr command_type type = command_type::request_version_scan;
    version_id model_version_id;
    json_text creator_request;

    static void describe(auto& self, auto&& field) {
        field(1, "model_version_id", self.model_version_id);
        field(2, "creator_request", self.creator_request);
    }
};

/// → scan
struct report_scan {
    static constexpr command_type type = command_type::report_scan;
    std::string workspace_name;
    schemas::build_id build_id;
    schemas::scan_status scan_status = schemas::scan_status::unscanned;
    schemas::safety_status safety_status = schemas::safety_status::unknown;
    std::string url;

    static void describe(auto& self, auto&& field) {
        field(1, "workspace_name", self.workspace_name);
        field(2, "build_id", self.build_id);
        field(3, "scan_status", self.scan_status);
        field(4, "safety_status", self.safety_status);
        field(5, "url", self.url);
    }
};

/// → webhook. workspace_id none: the caller's default workspace. The secret comes sealed.
struct create_webhook {
    static constexpr command_type type = command_type::create_webhook;
    std::string name;
    std::string location;
    std::string sealed_secret;
    std::string seal_binding;
    std::vector<schemas::event_type> event_types;
    bool all_events = false;
    schemas::workspace_id workspace_id;
    std::vector<resource_filter> resource_types;

    static void describe(auto& self, auto&& field) {
        field(1, "name", self.name);
        field(2, "location", self.location);
        field(3, "sealed_secret", self.sealed_secret);
        field(4, "seal_binding", self.seal_binding);
        field(5, "event_types", self.event_types);
        field(6, "all_events", self.all_events);
        field(7, "workspace_id", self.workspace_id);
        field(8, "resource_types", self.resource_types);
    }
};

/// → nothing
struct delete_webhooks {
    static constexpr command_type type = command_type::delete_webhooks;
    std::vector<webhook_id> ids;

    static void describe(auto& self, auto&& field) { field(1, "ids", self.ids); }
};

enum class webhook_condition : std::uint8_t { healthy, failing, gone };

/// From the holder of the claim "webhook-health". Another revision than the row's is ignored. → nothing
struct webhook_health {
    static constexpr command_type type = command_type::webhook_health;
    schemas::webhook_id webhook_id;
    std::uint64_t revision = 0;
    webhook_condition condition = webhook_condition::healthy;
    std::int64_t failing_since_ms = 0;
    std::string reason;
    std::uint64_t token = 0;  // of the claim

    static void describe(auto& self, auto&& field) {
        field(1, "webhook_id", self.webhook_id);
        field(2, "revision", self.revision);
        field(3, "condition", self.condition);
        field(4, "failing_since_ms", self.failing_since_ms);
        field(5, "reason", self.reason);
        field(6, "token", self.token);
    }
};

/// → feature_flag
struct set_feature_flag {
    static constexpr command_type type = command_type::set_feature_flag;
    std::string name;
    bool enabled = false;
    std::string content;

    static void describe(auto& self, auto&& field) {
        field(1, "name", self.name);
        field(2, "enabled", self.enabled);
        field(3, "content", self.content);
    }
};

/// By an operator at the machine (`herald admin-key`). → user
struct renew_admin_key {
    static constexpr command_type type = command_type::renew_admin_key;
    std::string email;
    std::string key_hash;

    static void describe(auto& self, auto&& field) {
        field(1, "email", self.email);
        field(2, "key_hash", self.key_hash);
    }
};

// ---- rows that belong to the engine
// -------------------------------------------------------------------------------

struct feature_flag {
    std::string name;
    bool enabled = true;
    std::string content;

    static void describe(auto& self, auto&& field) {
        field(1, "name", self.name, shown::never);
        field(2, "enabled", self.enabled);
        field(3, "content", self.content);
    }
};

/// Who holds a job. The token is the offset of the claim that won.
struct claim_row {
    std::string job;
    std::string node;
    uuid boot{};
    std::uint64_t token = 0;

    static void describe(auto& self, auto&& field) {
        field(1, "job", self.job);
        field(2, "node", self.node);
        field(3, "boot", self.boot);
        field(4, "token", self.token);
    }
};

/// What the log knows of an API node.
struct node_row {
    std::string node;
    uuid boot{};
    std::int64_t last_heartbeat_ms = 0;  // log time
    std::uint64_t applied_offset = 0;
    std::uint32_t level = 0;
    std::uint64_t boot_offset = 0;  // offset of the boot's first heartbeat: a later boot has a higher one

    static void describe(auto& self, auto&& field) {
        field(1, "node", self.node);
        field(2, "boot", self.boot);
        field(3, "last_heartbeat_ms", self.last_heartbeat_ms);
        field(4, "applied_offset", self.applied_offset);
        field(5, "level", self.level);
        field(6, "boot_offset", self.boot_offset);
    }
};

}  // namespace herald::schemas
