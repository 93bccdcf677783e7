#include "runtime/crypto.hpp"
#include "schemas/commands/serving.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/tables/tables.hpp"
#include "tests/unit/storage/registry/golden_endpoints.hpp"

namespace herald::test {
namespace {

using namespace schemas::commands;
using std::string;
using storage::registry::tables::key_of;
using storage::registry::tables::table;

// Rows of this chapter that are written directly.
constexpr schemas::model_id deployed_model{911};
constexpr schemas::version_id with_model{911}, without_model{912}, in_parts{913};
// The builds that are made here have the ids from this one on, updates those from 1.
constexpr std::uint64_t first_build = 5'000;

string sha256_of(std::string_view bytes) { return string(runtime::as_bytes(runtime::sha256(bytes))); }

schemas::build_id build_id_of(std::uint64_t number) { return schemas::build_id{first_build + number - 1}; }

void put_counter(golden_writer& log, const string& name, std::uint64_t value) {
    string row;
    schemas::append_varint(row, value);
    log.put_before_next(key_of(table::counter).text(name), row);
}

void put_deployed_version(golden_writer& log, schemas::version_id id) {
    schemas::model_version row;
    row.id = id;
    row.registered_model_id = deployed_model;
    row.workspace_id.value = 1;
    row.version = "to be deployed " + std::to_string(id.value);
    row.version_number = id.value;
    row.time_created = row.time_updated = 1'700'000'000'000;
    row.lock_level = schemas::lock_level::open;
    row.model.emplace();
    row.model->key = "model";
    row.model->path = "path/model";
    row.model->upload_completed = id == in_parts;
    log.put_before_next(key_of(table::version).number(id), schemas::encode(row));
}

void put_rows(golden_writer& log) {
    schemas::registered_model model;
    model.id = deployed_model;
    model.workspace_id.value = 1;
    model.name = "to be deployed";
    log.put_before_next(key_of(table::model).number(deployed_model), schemas::encode(model));
    for (const schemas::version_id id : {with_model, without_model, in_parts}) put_deployed_version(log, id);
    schemas::artifact_bytes many{in_parts, "model",
                                 std::vector<schemas::blob_part>(301, {sha256_of("part"), 4})};
    log.put_before_next(key_of(table::artifact_bytes).number(in_parts).text("model"), schemas::encode(many));
    put_counter(log, "build", first_build - 1);
    put_counter(log, "endpoint update", 0);
}

node_heartbeat serving_heartbeat(const string& node, std::uint8_t boot) {
    node_heartbeat command;
    command.node = node;
    command.boot[0] = boot;
    command.first = true;
    command.applied_offset = 1'000'000;
    command.newest_level = 2;
    command.runtimes = {"onnx", "upstream"};
    command.serves_predictions = true;
    return command;
}

create_build build_of(schemas::version_id version) {
    create_build command;
    command.workspace_name = "default";
    command.model_version_id = version;
    command.creator_request.text = "{}";
    return command;
}

/// The token is that of the claim, whose offset it is.
finish_build finished(std::uint64_t build, std::uint64_t token) {
    finish_build command;
    command.build_id = build_id_of(build);
    command.token = token;
    command.image_digest = sha256_of("image");
    command.image_bytes = 5;
    command.signature.inputs = {{"x", schemas::tensor_type::float32, {-1, 2}}};
    command.signature.outputs = {{"y", schemas::tensor_type::int64, {}}};
    return command;
}

schemas::uuid kept_endpoint() {
    schemas::uuid id{};
    id[0] = 1;
    return id;
}

update_endpoint_stage update_to(std::uint64_t build) {
    update_endpoint_stage command;
    command.endpoint_id = kept_endpoint();
    command.workspace_name = "default";
    command.stage_id.value = 1;
    command.build_id = build_id_of(build);
    command.update_request.text = R"({"strategy":"rollout"})";
    return command;
}

update_endpoint_stage canary_to(std::uint64_t build) {
    update_endpoint_stage command = update_to(build);
    command.strategy = schemas::update_strategy::canary;
    command.progress_interval_seconds = 60;
    command.progress_step = "0.4";
    command.rules = {{1005, "0.5"}, {1006, "0.5"}, {1007, "0.1"}, {1008, "0.1"}};
    command.limits = {1'000, 2'000, 3};
    command.batching = {8, 5};
    return command;
}

roll_back_endpoint_stage rollback() {
    roll_back_endpoint_stage command;
    command.endpoint_id = kept_endpoint();
    command.workspace_name = "default";
    command.stage_id.value = 1;
    return command;
}

component_ready ready(std::uint64_t update, const string& node, std::uint8_t boot, const string& error = {}) {
    component_ready command;
    command.update_id.value = update;
    command.node = node;
    command.boot[0] = boot;
    command.error = error;
    return command;
}

report_canary counts(std::uint64_t update, std::uint32_t interval, std::uint64_t requests,
                     std::uint64_t errors) {
    report_canary command;
    command.update_id.value = update;
    command.interval = interval;
    command.node = "s";
    command.boot[0] = 9;
    command.counts.requests = requests;
    command.counts.errors_5xx = errors;
    command.counts.latency_us_sum = requests * 1'000;
    if (requests > 0) command.counts.latencies = {{30, requests}};
    return command;
}

report_scan unsafe_report_of(std::uint64_t build) {
    return {"default", build_id_of(build), schemas::scan_status::scanned, schemas::safety_status::unsafe, ""};
}

/// Of builds: 1 and 2 are in error, 3, 4 and 7 are finished, 5 has failed, 6 was late.
std::uint64_t tell_of_builds_made(golden_writer& log) {
    put_rows(log);
    log.done(store_blob{sha256_of("model"), 5, "object of the model"});
    log.done(
        set_artifact_bytes{with_model, "model", sha256_of("path/model").substr(0, 16), sha256_of("model")});
    log.done(build_of(with_model), "which no node can make");
    log.done(serving_heartbeat("s", 9));
    log.done(build_of(without_model), "without a model");
    create_build command = build_of(with_model);
    command.upstream_url = "http://127.0.0.1:9/";
    log.refused(command, "that runs elsewhere and has no image");
    claim wanted;
    wanted.job = "builder";
    wanted.node = "s";
    wanted.boot[0] = 9;
    const std::uint64_t token = log.done(wanted);
    log.done(build_of(with_model), "that is to be made");
    log.done(request_scan{"default", build_id_of(3), {"{}"}}, "of the build that is being made");
    report_scan early{"default", build_id_of(3), schemas::scan_status::scanned, schemas::safety_status::safe,
                      ""};
    log.refused(early, "of what was not asked for yet");
    log.refused(finished(3, token + 1), "of somebody who does not hold the job");
    finish_build ended = finished(3, token);
    ended.image_digest = "short";
    log.refused(ended, "with half a digest");
    ended = finished(3, token);
    ended.base_url = string("\0", 1);
    log.refused(ended, "with a NUL");
    log.done(finished(3, token), "whose scan is requested now");
    log.done(finished(3, token), "again");
    log.done(early);
    log.done(build_of(with_model));
    log.done(finished(4, token));
    log.done(request_version_scan{with_model, {"{}"}});
    log.done(build_of(with_model));
    log.done(request_scan{"default", build_id_of(5), {"{}"}}, "of a build that will fail");
    ended = finished(5, token);
    ended.error = "it is a pickle";
    log.done(ended);
    log.done(build_of(with_model), "that nobody makes");
    log.now_ms += 601'000;
    log.done(serving_heartbeat("s", 9));
    log.done(build_of(in_parts), "of too many parts");
    log.done(build_of(with_model));
    log.done(finished(8, token));
    return token;
}

void tell_of_refused_updates(golden_writer& log) {
    const auto refused = [&](auto change, std::string_view what) {
        update_endpoint_stage command = canary_to(3);
        change(command);
        log.refused(command, what);
    };
    refused([](auto& c) { c.stage_id.value = 2; }, "of another endpoint's stage");
    refused([](auto& c) { c.build_id.value = 9'999; }, "to a build that there is none of");
    refused([](auto& c) { c.update_request.text = string(192 * 1024 + 1, ' '); },
            "with a body that is too long");
    refused([](auto& c) { c.limits.body_bytes_max = 1ull << 40; }, "with too large bodies");
    refused([](auto& c) { c.limits.deadline_ms = -1; }, "with a deadline in the past");
    refused([](auto& c) { c.limits.deadline_ms = 600'001; }, "with too late a deadline");
    refused([](auto& c) { c.limits.in_flight_max = 10'001; }, "with too many at a time");
    refused([](auto& c) { c.batching.size_max = 1'025; }, "with too large batches");
    refused([](auto& c) { c.batching.delay_ms_max = 1'001; }, "with too late batches");
    refused(
        [](auto& c) {
            c.batching = {4, 500};
            c.limits.deadline_ms = 1'000;
        },
        "with batches that wait for half of the deadline");
    refused([](auto& c) { c.progress_interval_seconds = 0; }, "without an interval");
    refused([](auto& c) { c.progress_step = "a bit"; }, "with a step that is no number");
    refused([](auto& c) { c.progress_step = "0"; }, "without a step");
    refused([](auto& c) { c.rules.clear(); }, "without rules");
    refused([](auto& c) { c.rules[0].rule_id = 1'004; }, "with a rule that there is none of");
    refused([](auto& c) { c.rules[2].threshold = "1.1"; }, "with a rate over 1");
    refused([](auto& c) { c.rules[3] = c.rules[2]; }, "with a rule twice");
    log.refused(rollback(), "before anything served");
    log.user = ann;
    log.refused(update_to(3), "by somebody who may only read");
    log.refused(rollback(), "by somebody who may only read");
    log.user = admin;
}

void tell_of_updated_stages_that_run(golden_writer& log) {
    log.done(update_to(1), "to a build in error");  // 1
    log.done(update_to(3));                         // 2
    log.refused(ready(2, "s", 8), "of an earlier process");
    log.done(ready(2, "s", 9), "which swaps");
    log.done(canary_to(4));  // 3
    log.done(ready(3, "s", 9), "which begins the canary");
    report_canary wrong = counts(3, 1, 20, 0);
    wrong.counts.errors_4xx = 21;
    log.refused(wrong, "with more errors than requests");
    wrong = counts(3, 1, 20, 0);
    wrong.boot[0] = 8;
    log.refused(wrong, "of an earlier process");
    log.done(counts(3, 2, 20, 0), "of another interval");
    log.now_ms += 60'000;
    log.done(serving_heartbeat("s", 9));
    log.done(counts(3, 1, 20, 1), "which pass");
    log.now_ms += 70'000;
    log.done(serving_heartbeat("s", 9), "an interval without counts is over");
    log.done(counts(3, 3, 30, 0), "before the interval is over");
    log.done(counts(3, 3, 30, 0), "again");
    log.now_ms += 70'000;
    log.done(serving_heartbeat("s", 9), "the interval is over, and all is served");
    log.done(canary_to(3));  // 4
    log.done(ready(4, "s", 9));
    log.now_ms += 60'000;
    log.done(serving_heartbeat("s", 9));
    log.done(counts(4, 1, 20, 3), "which break a rule");
    log.done(update_to(8));                                       // 5
    log.done(update_to(8), "in the place of the one that runs");  // 6
    log.done(ready(6, "s", 9, "no memory is left"), "which cannot");
    log.done(update_to(8));  // 7
    log.now_ms += 601'000;
    log.done(no_operation{}, "nobody has loaded it");
    log.done(serving_heartbeat("s", 9));
    log.done(update_to(8));  // 8
    log.done(unsafe_report_of(8), "of what is being loaded");
    log.done(unsafe_report_of(4), "of what serves");
    log.done(build_of(with_model));                           // 9
    log.done(update_to(9), "to a build that is being made");  // 9
}

/// A build on more stages than are followed at once.
void tell_of_many_stages(golden_writer& log) {
    log.done(build_of(with_model));  // 11
    create_endpoint endpoint;
    endpoint.id[0] = 9;
    endpoint.workspace_name = "default";
    endpoint.path = "/many";
    endpoint.creator_request.text = "{}";
    log.done(endpoint);
    constexpr std::uint64_t before = 100;  // the ids of its stages follow it
    put_counter(log, "endpoint stage", before);
    for (std::uint64_t i = 1; i <= limits::endpoint_stages_max; ++i) {
        create_endpoint_stage stage;
        stage.endpoint_id = endpoint.id;
        stage.workspace_name = "default";
        stage.name = "stage " + std::to_string(i);
        stage.creator_request.text = "{}";
        stage.token = {string(32, 'm'), "sealed m", "access token:m"};
        log.done(stage);
        update_endpoint_stage update = update_to(11);
        update.endpoint_id = endpoint.id;
        update.stage_id.value = before + i;
        log.done(update);
    }
    log.done(update_to(11), "on one more than are followed at once");
    log.done(unsafe_report_of(11), "of what waits everywhere");
    log.done(no_operation{}, "the last stage follows");
    log.done(delete_endpoint{endpoint.id, "default"});
}

/// Of a node that serves predictions.
void tell_of_replaced_processes(golden_writer& log) {
    const auto beat = [&](std::uint8_t boot, std::string_view what) {
        node_heartbeat command = serving_heartbeat("t", boot);
        command.applied_offset = 1'000'000 + boot;
        command.isolation_grace_ms = 900'000;
        log.done(command, what);
    };
    beat(1, "of a process");
    beat(2, "which replaces it");
    beat(1, "of the first process, which replaces the second");
    for (std::uint8_t boot = 3; boot < 21; ++boot) beat(boot, "which replaces the one before");
    log.now_ms += 900'000;
    beat(20, "after the time of all that were replaced");
    beat(21, "which replaces the one before");
    log.now_ms += 24 * hour_ms;
    log.done(no_operation{}, "the node is forgotten");
}

}  // namespace

void tell_of_updated_stages(golden_writer& log) {
    log.user = admin;
    const std::uint64_t token = tell_of_builds_made(log);
    tell_of_refused_updates(log);
    tell_of_updated_stages_that_run(log);
    log.done(finished(9, token), "which is loaded now");
    log.done(build_of(with_model));  // 10
    log.done(update_to(10));         // 10
    finish_build ended = finished(10, token);
    ended.error = "it cannot be made";
    log.done(ended, "which rolls back");
    delete_version version;
    version.id = with_model;
    log.refused(version, "that is deployed");
    delete_model model;
    model.id = deployed_model;
    log.refused(model, "that is deployed");
    tell_of_many_stages(log);
    log.done(rollback(), "to the build that served before");
    log.done(update_to(3));
    schemas::uuid kept = kept_endpoint();
    log.done(delete_endpoint{kept, "default"}, "with an update that runs");
    log.done(no_operation{}, "its parts are swept");
    log.done(version, "with its builds");
    for (int i = 0; i < 3; ++i) log.done(no_operation{}, "what is left of it goes");
    node_heartbeat farewell = serving_heartbeat("s", 9);
    farewell.last = true;
    log.done(farewell, "the last");
    tell_of_replaced_processes(log);
}

}  // namespace herald::test
