// Endpoints, their stages, access tokens and updates (wire.md §5, design.md §4).
#pragma once

#include "schemas/enums.hpp"

namespace herald::schemas {

/// Assigned by apply, JSON numbers in answers.
using endpoint_stage_id = id<struct endpoint_stage_kind>;
using access_token_id = id<struct access_token_kind>;
using update_id = id<struct update_kind>;

/// The unit of shares of the traffic, and of thresholds that are rates.
inline constexpr std::uint32_t whole_ppm = 1'000'000;

struct endpoint {
    uuid id{};         // comes with the command
    std::string path;  // normalised: "/a/b"
    schemas::workspace_id workspace_id;
    user_id owner_id;
    json_text creator_request;  // echoed as a whole
    std::int64_t time_created = 0;
    std::int64_t time_updated = 0;

    HERALD_DESCRIBE(id, path, workspace_id, owner_id, creator_request, time_created, time_updated);
};

/// An endpoint as it is shown: ids are numbers, times ISO-8601.
struct endpoint_record {
    std::string id;
    std::string path;
    json_text creator_request;
    std::string date_created;
    std::string date_updated;
    user_id owner_id;
    schemas::workspace_id workspace_id;

    HERALD_DESCRIBE(id, path, creator_request, date_created, date_updated, owner_id, workspace_id);
};
endpoint_record record_of(endpoint);

enum class endpoint_stage_status : std::uint8_t { inactive, creating, updating, active, error };
template <>
inline constexpr auto enum_names<endpoint_stage_status> =
    in_order<endpoint_stage_status>("inactive", "creating", "updating", "active", "error");

enum class component_status : std::uint8_t { creating, active, error };
template <>
inline constexpr auto enum_names<component_status> =
    in_order<component_status>("creating", "active", "error");

/// 0: the default of the setting.
struct prediction_limits {
    std::uint64_t body_bytes_max = 0;
    std::int64_t deadline_ms = 0;
    std::uint32_t in_flight_max = 0;

    friend bool operator==(const prediction_limits&, const prediction_limits&) = default;
    HERALD_DESCRIBE(body_bytes_max, deadline_ms, in_flight_max);
};

/// size_max 0 or 1: no batching.
struct batching_settings {
    std::uint32_t size_max = 0;
    std::uint32_t delay_ms_max = 0;

    friend bool operator==(const batching_settings&, const batching_settings&) = default;
    HERALD_DESCRIBE(size_max, delay_ms_max);
};

/// How a build answers at a stage: the same members, with the same numbers, in the request, the command and
/// the row.
struct serving_settings {
    prediction_limits limits;
    batching_settings batching;

    static constexpr void describe(auto& self, auto&& field) {
        field(30, "limits", self.limits);
        field(31, "batching", self.batching);
    }
};

/// A build with a share of the traffic. A stage has none, one, or two: the old one first.
struct stage_component : serving_settings {
    schemas::build_id build_id;
    std::uint32_t ratio_ppm = 0;
    component_status status = component_status::creating;
    std::string message;           // why it is in error
    schemas::update_id update_id;  // that brought it

    using shown_inline = serving_settings;
    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(build_id, ratio_ppm, status, message, update_id);
        serving_settings::describe(self, field);
    }
};

/// A build that served, and how.
struct served_build : serving_settings {
    schemas::build_id build_id;

    using shown_inline = serving_settings;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "build_id", self.build_id);
        serving_settings::describe(self, field);
    }
};

/// A deployment slot of an endpoint.
struct endpoint_stage {
    endpoint_stage_id id;
    uuid endpoint_id{};
    std::string name;
    endpoint_stage_status status = endpoint_stage_status::inactive;
    std::vector<stage_component> components;
    schemas::update_id update_id;  // the one that runs; 0: none does
    json_text update_request;      // of the newest update, echoed as it came
    json_text creator_request;
    std::int64_t time_created = 0;
    std::int64_t time_updated = 0;
    /// Before the one that serves alone; see previous_of().
    std::optional<served_build> previous;

    HERALD_DESCRIBE(id, endpoint_id, name, status, components, update_id, update_request, creator_request,
                    time_created, time_updated, previous);
};

/// The component that serves beside that of this update (0: of an update that has ended), if any does. It is
/// without a share, but kept, while a canary whose step is 1 is tried with all predictions.
std::optional<stage_component> old_component(const endpoint_stage&, schemas::update_id);
/// The component's build, and how it serves.
served_build served_of(const stage_component&);
/// The build that a rollback leads to: while an update runs the one that serves beside it, otherwise the one
/// that served before; none as long as there is none. While an update back to that one runs, it stays the
/// same, so that a rollback that comes twice goes back once.
std::optional<served_build> previous_of(const endpoint_stage&);

/// A stage's token. Checked by its hash, listed by its sealed value.
struct access_token {
    access_token_id id;
    endpoint_stage_id stage_id;
    std::string hash;          // SHA-256 of the value, 32 bytes
    std::string sealed_value;  // key_ring, bound to seal_binding; empty: minted, derived again
    std::string seal_binding;
    std::string label;
    std::int64_t expires_ms = 0;  // log time; 0: never
    bool is_default = false;      // made with the stage
    json_text creator_request;    // without its value
    std::int64_t time_created = 0;

    HERALD_DESCRIBE(id, stage_id, hash, sealed_value, seal_binding, label, expires_ms, is_default,
                    creator_request, time_created);
};

/// A line of a stage's log.
struct stage_log_entry {
    endpoint_stage_id stage_id;
    std::uint64_t number = 0;  // ascending within the stage
    std::int64_t time_ms = 0;
    std::string message;
    user_id author_id;  // whose command it was; 0: Herald's own step

    HERALD_DESCRIBE(stage_id, number, time_ms, message, author_id);
};

enum class update_strategy : std::uint8_t { rollout, canary };
template <>
inline constexpr auto enum_names<update_strategy> = in_order<update_strategy>("rollout", "canary");

/// The numbers are those of the published client.
enum class canary_rule_kind : std::uint16_t {
    latency_avg_max = 1005,  // threshold in µs
    latency_p90_max = 1006,  // threshold in µs
    error_4xx_rate = 1007,   // threshold in ppm
    error_5xx_rate = 1008,   // threshold in ppm
};

struct canary_rule {
    std::uint32_t rule_id = 0;    // a canary_rule_kind
    std::uint64_t threshold = 0;  // parsed exactly: µs or ppm

    friend bool operator==(const canary_rule&, const canary_rule&) = default;
    HERALD_DESCRIBE(rule_id, threshold);
};

struct canary_plan {
    std::uint32_t progress_interval_seconds = 0;
    std::uint32_t progress_step_ppm = 0;
    std::vector<canary_rule> rules;

    friend bool operator==(const canary_plan&, const canary_plan&) = default;
    HERALD_DESCRIBE(progress_interval_seconds, progress_step_ppm, rules);
};

/// One bucket of a latency histogram (schemas/latency_buckets.hpp gives a bucket's bounds).
struct latency_bucket {
    std::uint32_t bucket = 0;
    std::uint64_t count = 0;

    friend bool operator==(const latency_bucket&, const latency_bucket&) = default;
    HERALD_DESCRIBE(bucket, count);
};

/// The counts of a component in one interval.
struct component_counts {
    std::uint64_t requests = 0;
    std::uint64_t errors_4xx = 0;  // without 401, 403, 404, 408, 429
    std::uint64_t errors_5xx = 0;
    std::uint64_t latency_us_sum = 0;
    std::vector<latency_bucket> latencies;  // ascending, none of them 0

    friend bool operator==(const component_counts&, const component_counts&) = default;
    HERALD_DESCRIBE(requests, errors_4xx, errors_5xx, latency_us_sum, latencies);
};

enum class update_phase : std::uint8_t {
    waiting_for_build,  // the build is being made
    loading,            // nodes load and warm it
    canary,             // it has a share
};

/// A node that has said whether a component is ready there.
struct ready_node {
    std::string node;
    uuid boot{};

    friend bool operator==(const ready_node&, const ready_node&) = default;
    HERALD_DESCRIBE(node, boot);
};

/// An update that runs; its row goes when it has ended.
struct endpoint_update {
    update_id id;
    endpoint_stage_id stage_id;
    schemas::build_id build_id;
    update_strategy strategy = update_strategy::rollout;
    canary_plan canary;
    update_phase phase = update_phase::waiting_for_build;
    std::int64_t deadline_ms = 0;  // log time: of the build, then of loading
    std::vector<ready_node> ready;
    std::uint32_t interval = 0;         // of the canary, from 1; counts of another are ignored
    std::int64_t interval_ends_ms = 0;  // log time
    std::uint32_t holds = 0;            // in a row
    component_counts counts;            // of the new component in this interval, summed over nodes
    std::vector<ready_node> counted;    // whose counts of this interval are in it
    std::int64_t step_due_ms = 0;       // of the timer that takes its next step; 0: none is set

    HERALD_DESCRIBE(id, stage_id, build_id, strategy, canary, phase, deadline_ms, ready, interval,
                    interval_ends_ms, holds, counts, counted, step_due_ms);
};

}  // namespace herald::schemas
