// Of the golden log: deliveries that are sent again, one by one and as replays.
#include "runtime/crypto.hpp"
#include "tests/unit/storage/registry/golden_story.hpp"

namespace herald::test {
namespace {

using namespace schemas::commands;
using schemas::replay_id;
using schemas::replay_state;
using schemas::webhook_id;

constexpr webhook_id heard{4};  // hears changes of versions

/// As apply names the first event of a record.
schemas::event_id event_of(const command_envelope& envelope, std::uint64_t offset) {
    std::string source(runtime::as_bytes(envelope.log_id));
    schemas::append_big_endian(source, std::uint64_t{envelope.generation});
    schemas::append_big_endian(source, offset);
    schemas::append_big_endian(source, std::uint64_t{1});
    return std::to_string(envelope.generation) + "-" +
           runtime::to_hex(runtime::as_bytes(runtime::sha256(source)).substr(0, 16));
}

/// An event that the webhook hears; returns its id.
schemas::event_id tell_of_an_event(golden_writer& log) {
    create_event command;
    command.event_uuid = "to-be-sent-again";
    command.event_type = schemas::event_type::update;
    command.resource_type = schemas::resource_type::registered_model_version;
    command.resource_id = "901";
    const std::uint64_t offset = log.done(command, "that is sent again");
    return event_of(log.envelope_of(command), offset);
}

void tell_of_retries(golden_writer& log, const schemas::event_id& event) {
    log.done(retry_delivery{event, heard}, "by the administrator");
    log.user = ann;
    permit_everybody(log, read_only);
    log.refused(retry_delivery{event, heard}, "by somebody who may only read");
    permit_everybody(log, read_write);
    log.done(retry_delivery{event, heard}, "by somebody who may update");
    permit_everybody(log, read_only);
    log.user = admin;
    log.refused(retry_delivery{"1-none", heard}, "of an event that is not kept");
    log.refused(retry_delivery{event, {9'999}}, "to a webhook that there is none of");
    log.done(set_webhook_status{heard, schemas::webhook_status::disabled}, "for a moment");
    log.refused(retry_delivery{event, heard}, "to a webhook that is disabled");
    log.done(set_webhook_status{heard, schemas::webhook_status::enabled}, "again");
}

begin_replay replay_of(webhook_id id) {
    begin_replay command;
    command.scope.webhook_id = id;
    return command;
}

void tell_of_beginnings(golden_writer& log, const schemas::event_id& event) {
    begin_replay command = replay_of(heard);
    command.scope.event_types = {schemas::event_type::update};
    log.done(command, "of a webhook");
    command = {};
    command.scope.picked = {{event, heard}, {event, heard}};
    log.done(command, "of two deliveries");
    command = {};
    command.scope.filter.emplace();
    command.scope.filter->states = {schemas::delivery_state::dead};
    log.done(command, "of what a filter shows");
    log.refused(begin_replay{}, "of nothing");
    log.refused(replay_of({9'999}), "of a webhook that there is none of");
    command = {};
    command.scope.picked.resize(101, {event, heard});
    log.refused(command, "of too many deliveries");
    command.workspace_id.value = 2;
    command.scope.picked.resize(1);
    log.refused(command, "of a delivery of another workspace");
    command = {};
    command.workspace_id.value = 9'999;
    command.scope.filter.emplace();
    log.refused(command, "of a workspace that there is none of");
    log.user = ann;
    log.refused(replay_of(heard), "by somebody without rights");
    log.user = admin;
}

void tell_of_progress(golden_writer& log) {
    const std::uint64_t token = log.done(claim{"replay", "a", {}}, "of the replays");
    report_replay report;
    report.replay_id = {1};
    report.token = token + 1;
    log.refused(report, "by who does not hold the claim");
    report.token = token;
    report.progress = {{"place"}, false, true, 9, 3, {2, 1}};
    log.done(report, "of a part");
    report.progress.cursor.bytes.assign(16'385, 'x');
    log.refused(report, "with too long a cursor");
    report.progress.cursor.bytes.clear();
    report.is_done = true;
    log.done(report, "of the end");
    log.done(report, "of what has ended: nothing");
    report = {{2}, {}, false, "the webhook was deleted", token};
    log.done(report, "of a failure");
}

void tell_of_states(golden_writer& log) {
    log.done(set_replay_state{{3}, replay_state::paused}, "paused");
    log.done(set_replay_state{{3}, replay_state::paused}, "paused again: nothing");
    log.done(set_replay_state{{3}, replay_state::running}, "resumed");
    log.refused(set_replay_state{{3}, replay_state::done}, "that only its job can give");
    log.done(set_replay_state{{3}, replay_state::cancelled}, "cancelled");
    log.refused(set_replay_state{{3}, replay_state::running}, "of what has ended");
    log.refused(set_replay_state{{9'999}, replay_state::paused}, "of a replay that there is none of");
    log.user = bob;
    log.refused(set_replay_state{{3}, replay_state::paused}, "by somebody who did not begin it");
    log.user = admin;
    for (int i = 0; i < 16; ++i) log.done(replay_of(heard), "that runs on");
    log.refused(replay_of(heard), "beside too many others");
    log.now_ms += 31 * day_ms;
    log.done(no_operation{}, "a month later");
}

}  // namespace

void tell_of_deliveries(golden_writer& log) {
    const schemas::event_id event = tell_of_an_event(log);
    tell_of_retries(log, event);
    tell_of_beginnings(log, event);
    tell_of_progress(log);
    tell_of_states(log);
}

}  // namespace herald::test
