// How the limits of different rooms must relate; no code. Where one room sees both limits, its own limits say
// so.
#include "program/options/limits.hpp"

#include "api/calls/limits.hpp"
#include "api/limits.hpp"
#include "api/predictions/limits.hpp"
#include "api/serving/builder/limits.hpp"
#include "api/serving/engines/onnx/limits.hpp"
#include "api/webhooks/limits.hpp"
#include "events/limits.hpp"
#include "events/log/limits.hpp"
#include "runtime/http/limits.hpp"
#include "runtime/limits.hpp"
#include "schemas/commands/limits.hpp"
#include "schemas/limits.hpp"
#include "storage/artifacts/limits.hpp"
#include "storage/deliveries/limits.hpp"
#include "storage/node/limits.hpp"
#include "storage/registry/engine/limits.hpp"
#include "storage/registry/find/limits.hpp"
#include "storage/registry/outcomes/limits.hpp"
#include "storage/registry/rules/limits.hpp"
#include "workers/limits.hpp"

namespace herald::limits {

// Stopping
static_assert(drain_commands_ms_max + drain_answers_ms_max + drain_worker_ms_min < drain_ms_max,
              "the server drains before that");
static_assert(drain_ms_max < closed_ms_max && closed_ms_max < 10'000, "10 s are what a process has to end");
static_assert(2 * drain_ms_max < ending_ms_max, "nothing that drains and closes as it should is cut off");

// Partitions that go from one worker to another
static_assert(recalled_ms_max < recall_ms_max, "a worker lets go before it would be taken away");

// Requests and answers
static_assert(find_whole_bytes_max + entity_bytes_max <= unsent_answers_bytes_max,
              "each answer that is not streamed has room when it is alone");
static_assert(prediction_body_bytes_max + request_header_bytes_max + framing_bytes_max <=
                  unfinished_bodies_bytes_max,
              "the largest body has room when it is alone");
static_assert(unfinished_bodies_bytes_max <= request_memory_mb_min * 1024 * 1024,
              "what came may wait for its answer");
static_assert(onnx_response_bytes_max <= prediction_answer_bytes_max,
              "what a model may give in bytes may be sent");
static_assert(onnx_responses_bytes_max / body_bytes_on_loop_max <= bodies_written_beside_loops_max,
              "each long response that there can be may wait to be written");
static_assert(2 * prediction_answer_bytes_max <= unsent_answers_bytes_max,
              "an answer that is sent as a whole has room beside another");
static_assert(entity_bytes_max < command_bytes_max, "a command holds an entity");
static_assert(command_bytes_max <= record_bytes_max, "and a record the command");
static_assert(command_bytes_max <= management_body_bytes_max, "what the log takes can be sent");
static_assert(outcome_wait_ms_max <= not_after_ms, "who waits hears of a command that was too late");
static_assert(not_after_ms < outcome_kept_ms, "no late copy finds its outcome forgotten");
static_assert(sender_clock_ahead_ms_max <= not_after_ms, "a clock that is ahead makes no command late");

// Artifacts
static_assert(artifact_bytes_max / s3_part_bytes < s3_parts_max, "S3 takes as many parts as an upload has");

// Builds
static_assert(2 * build_look_ms_max < build_ms_max, "what waits behind a model that does not load is made");

// Deadlines of routes: what a handler waits for ends before, with an answer that says more
static_assert(barrier_wait_ms_max < read_deadline_ms);
static_assert(barrier_wait_ms_max + turn_wait_ms_max + find_ms_max < long_read_deadline_ms);
static_assert(2 * barrier_wait_ms_max + outcome_wait_ms_max < write_deadline_ms,
              "a strict caller's write asks for the state, too");
static_assert(barrier_wait_ms_max + test_deadline_ms < write_deadline_ms);

// Nodes
static_assert(heartbeat_interval_ms < heartbeat_interval_standalone_ms);
static_assert(2 * heartbeat_interval_ms < claim_lapse_ms, "one lost heartbeat loses no job");
static_assert(2 * heartbeat_interval_ms < barrier_heartbeat_age_ms_max, "nor the read barrier its short way");
static_assert(claim_lapse_ms < node_row_kept_ms, "a job is free long before its holder is forgotten");
static_assert(isolation_grace_s_max * 1'000 <= node_row_kept_ms,
              "no process serves when its node is forgotten");

// Deliveries
static_assert(client_resolve_ms <= delivery_deadline_ms, "a delivery gets further than its name");
static_assert(client_connect_ms <= delivery_connect_ms);
static_assert(delivery_connect_ms < delivery_deadline_ms);
static_assert(delivery_deadline_ms < test_deadline_ms, "a test hears of an attempt that took all its time");
static_assert(deliveries_per_retry_max == retried_at_once_max, "what the door takes, apply takes");
static_assert(delivery_history_kept_ms == outbox_kept_ms, "an event is as old as what is known of it");
static_assert(lane_bytes_max >= event_bytes_max + delivery_metadata_bytes_max, "a lane holds any delivery");
static_assert(lane_bytes_troubled_max >= event_bytes_max + delivery_metadata_bytes_max, "also in trouble");

}  // namespace herald::limits
