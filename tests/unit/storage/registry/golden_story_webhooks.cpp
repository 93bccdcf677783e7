// Of the golden log: webhooks, and bounds that it takes many records to reach.
#include "tests/unit/storage/registry/golden_story.hpp"

namespace herald::test {
namespace {

using namespace schemas::commands;
using schemas::event_type;
using schemas::resource_filter;
using schemas::resource_type;
using schemas::webhook_id;
using std::string;

create_webhook hook_command(const string& name, std::vector<event_type> types) {
    create_webhook command;
    command.settings.name = name;
    command.settings.location = "https://example.org/hook";
    command.settings.event_types = std::move(types);
    return command;
}

create_webhook filtered(std::vector<resource_filter> filters) {
    create_webhook command = hook_command("filtered", {event_type::create, event_type::request_scan});
    command.settings.resource_types = std::move(filters);
    return command;
}
create_webhook filtered(resource_type registry, resource_type deployment, resource_type modeldb) {
    resource_filter filter;
    filter.registry_service_resource_type = registry;
    filter.deployment_service_resource_type = deployment;
    filter.modeldb_service_resource_type = modeldb;
    return filtered({filter});
}

/// Of webhook `id`, whose revision is the offset at which it was made.
webhook_health health_of(std::uint64_t id, std::uint64_t revision, webhook_condition condition) {
    webhook_health command;
    command.webhook_id = webhook_id{id};
    command.revision = revision;
    command.condition = condition;
    return command;
}

void tell_of_refused_webhooks(golden_writer& log) {
    create_webhook command = hook_command("refused", {event_type::promote});
    log.user = ann;
    log.refused(command, "by somebody who is no system administrator");
    log.user = admin;
    command.workspace_id.value = 99;
    log.refused(command, "in a workspace that there is none of");
    log.refused(hook_command("", {event_type::promote}), "without a name");
    command = hook_command("refused", {event_type::promote});
    command.settings.location = "ftp://example.org";
    log.refused(command, "whose location is none");
    for (const char* location :
         {"https:///hook", "https://?hook", "http://#hook", "https://example.org/a b"}) {
        command.settings.location = location;
        log.refused(command, "whose location is none");
    }
    command.settings.location = "https://example.org/" + string(2'029, 'x');
    log.refused(command, "whose location is too long");

    constexpr auto none = resource_type::none;
    log.refused(filtered(std::vector<resource_filter>(17)), "with too many filters");
    log.refused(filtered(none, none, none), "with an empty filter");
    log.refused(filtered(resource_type::all, resource_type::all, none), "with two kinds in one filter");
    log.refused(filtered(resource_type::endpoint, none, none), "with a filter of the other service");
    log.refused(filtered(none, resource_type::registered_model, none), "with a filter of the other service");
    log.refused(filtered(none, none, resource_type::build), "with a filter of the other service");
    log.refused(hook_command("refused", {}), "for no events");
    command = hook_command("refused", {event_type::promote});
    command.settings.resource_types = filtered(none, resource_type::build, none).settings.resource_types;
    log.refused(command, "that could hear nothing");
}

/// The timers that disable them find them deleted, disabled and well.
void tell_of_failures_that_end(golden_writer& log, const std::vector<std::uint64_t>& revisions,
                               std::uint64_t token) {
    for (const std::uint64_t id : {6u, 7u, 8u}) {
        webhook_health told = health_of(id, revisions[id - 1], webhook_condition::failing);
        told.token = token;
        told.failing_since_ms = log.now_ms - 13 * hour_ms;
        told.failed_until_ms = log.now_ms;
        log.done(told, std::to_string(id) + " fails");
        told.condition = id == 7 ? webhook_condition::gone : webhook_condition::healthy;
        if (id == 6)
            log.done(delete_webhooks{{webhook_id{6}}});
        else
            log.done(told, std::to_string(id) + " fails no more");
    }
}

void tell_of_health(golden_writer& log, const std::vector<std::uint64_t>& revisions) {
    claim job;
    job.job = "webhook-health";
    job.node = "a";
    job.boot[0] = 1;
    webhook_health told = health_of(1, revisions[0], webhook_condition::failing);
    log.refused(told, "before anybody holds the job");
    told.token = log.done(job);
    const std::uint64_t token = told.token;
    told.token = token - 1;
    log.refused(told, "with the token of an earlier holder");
    delivery_ended ended{{}, schemas::build_id{1}, webhook_id{1}, schemas::delivery_end::dead, token - 1};
    log.refused(ended, "with the token of an earlier holder");
    ended.token = token;
    log.done(ended, "of no scan that is running");
    told.token = token;
    told.failing_since_ms = log.now_ms - 2 * day_ms;
    told.failed_until_ms = log.now_ms;
    log.done(told, "1 fails since two days");
    log.done(told, "1 still fails");
    told.condition = webhook_condition::healthy;
    log.done(told, "1 is well again");
    told.condition = webhook_condition::failing;
    told.failing_since_ms = log.now_ms + hour_ms;
    log.done(told, "1 fails, by a clock that is ahead");
    told = health_of(1, revisions[1], webhook_condition::gone);
    told.token = token;
    log.done(told, "of another revision: nothing");
    told = health_of(99, 1, webhook_condition::gone);
    told.token = token;
    log.done(told, "of none: nothing");
    told = health_of(2, revisions[1], webhook_condition::gone);
    told.token = token;
    told.reason = "410 Gone";
    log.done(told, "2 is gone");
    told = health_of(3, revisions[2], webhook_condition::failing);
    told.token = token;
    told.failing_since_ms = log.now_ms - 13 * hour_ms;
    told.failed_until_ms = log.now_ms;
    log.done(told, "3 fails");
    told = health_of(2, log.offset() - 2, webhook_condition::healthy);
    told.token = token;
    log.done(told, "of one that is disabled: nothing");
    tell_of_failures_that_end(log, revisions, token);
}

/// Each of what WEBHOOK_HEALTH says of `failing`, and what it says of it to nobody.
void tell_of_told_health(golden_writer& log, std::uint64_t failing, std::uint64_t revision) {
    claim job;
    job.job = "webhook-health";
    job.node = "a";
    job.boot[0] = 2;
    webhook_health told = health_of(failing, revision, webhook_condition::failing);
    const std::uint64_t token = log.done(job, "of webhook-health, anew");
    told.token = token;
    told.failing_since_ms = log.now_ms - 13 * hour_ms;
    told.failed_until_ms = log.now_ms;
    told.reason = "answered 500";
    log.done(told, "fails with WEBHOOK_HEALTH alone");
    told.failed_attempts = 1;
    log.done(told, "fails with another event, too");
    told.failed_attempts = 10;
    log.done(told, "fails: others are told");
    told.condition = webhook_condition::healthy;
    log.done(told, "recovers");
    told.condition = webhook_condition::failing;
    log.done(told, "fails anew");
    log.now_ms += 4 * day_ms;
    log.done(no_operation{}, "a day before it is disabled");
    log.now_ms += day_ms;
    log.done(no_operation{}, "when it is disabled");
    log.done(set_webhook_status{webhook_id{failing}, schemas::webhook_status::enabled}, "enabled");
    told = health_of(failing, log.offset() - 1, webhook_condition::gone);
    told.token = token;
    told.reason = "410 Gone";
    log.done(told, "gone, with WEBHOOK_HEALTH alone");
}

/// Of webhook `id`, each setting, and what is wrong with it.
void tell_of_settings(golden_writer& log, std::uint64_t id) {
    update_webhook command;
    command.id = webhook_id{id};
    command.new_name = "renamed";
    schemas::webhook_delivery& wanted = command.delivery;
    wanted = {"text",
              1'000,
              {5, 86'400},
              100,
              {{"stage", schemas::find_operator::in, {R"(["PRODUCTION"])"}}},
              schemas::content_mode::structured,
              true,
              log.now_ms + day_ms};
    command.given = {"description",  "timeout_ms", "retry_schedule", "rate_limit",
                     "content_mode", "filter",     "asymmetric",     "time_expires"};
    command.headers = {{"x-key", "sealed", "webhook:5"}};
    log.done(command, "with every setting");
    command.new_name = "everything";
    log.refused(command, "with the name of another");
    command.new_name.clear();
    for (const auto& [what, change] : std::vector<std::pair<string, void (*)(update_webhook&)>>{
             {"too short a time", [](auto& c) { c.delivery.timeout_ms = 999; }},
             {"too short a wait", [](auto& c) { c.delivery.retry_schedule = {4}; }},
             {"too many waits", [](auto& c) { c.delivery.retry_schedule.assign(17, 5); }},
             {"a header for another host",
              [](auto& c) {
                  c.new_location = "https://elsewhere.example/";
                  c.headers.clear();
              }},
             {"too high a rate", [](auto& c) { c.delivery.rate_limit = 10'001; }},
             {"a time that is over", [](auto& c) { c.delivery.time_expires = 1; }},
             {"a path that no event has", [](auto& c) { c.delivery.filter[0].path = "nothing"; }},
             {"an empty path", [](auto& c) { c.delivery.filter[0].path.clear(); }},
             {"a path of dots", [](auto& c) { c.delivery.filter[0].path = "stage..x"; }},
             {"no list where one is needed", [](auto& c) { c.delivery.filter[0].value.text = "1"; }},
             {"a value that is not JSON", [](auto& c) { c.delivery.filter[0].value.text = "{"; }},
             {"no order", [](auto& c) { c.delivery.filter[0].operator_ = schemas::find_operator::gt; }},
             {"too many conditions", [](auto& c) { c.delivery.filter.resize(9, c.delivery.filter[0]); }},
             {"a header of Herald's", [](auto& c) { c.headers[0].name = "webhook-id"; }},
             {"a header that has no name", [](auto& c) { c.headers[0].name = "a b"; }},
             {"too many headers", [](auto& c) {
                  for (int i = 0; i < 16; ++i) c.headers.push_back({"x-" + std::to_string(i), "sealed", ""});
              }}}) {
        update_webhook wrong = command;
        change(wrong);
        log.refused(wrong, "with " + what);
    }
    rotate_webhook_secret rotation{webhook_id{id}, "second", "webhook:6", 3'600};
    log.done(rotation, "from no secret: nothing overlaps");
    rotation.sealed_secret = "third";
    log.done(rotation, "with an overlap");
    log.refused(rotate_webhook_secret{webhook_id{id}, "", "", 0}, "without a secret");
    log.refused(rotate_webhook_secret{webhook_id{id}, "s", "b", 7 * 86'400 + 1}, "for too long");
    log.refused(rotate_webhook_secret{webhook_id{9'999}, "s", "b", 0}, "of none");
    log.user = ann;
    log.refused(rotate_webhook_secret{webhook_id{id}, "s", "b", 0}, "by somebody who may not");
    log.user = admin;
    log.now_ms += hour_ms;
    log.done(no_operation{}, "the overlap is over");
    log.now_ms += day_ms;
    log.done(no_operation{}, "it expires");
}

}  // namespace

void tell_of_webhooks(golden_writer& log) {
    tell_of_refused_webhooks(log);
    create_webhook everything = hook_command("everything", {});
    everything.settings.all_events = true;
    everything.sealed_secret = "sealed";
    everything.seal_binding = "webhook:1";
    std::vector<std::uint64_t> revisions;
    revisions.push_back(log.done(everything, "1: everything"));
    log.refused(everything, "with the name of another");
    revisions.push_back(
        log.done(hook_command("promotions", {event_type::promote, event_type::promote}), "2: promotions"));
    revisions.push_back(log.done(filtered(resource_type::none, resource_type::build, resource_type::none),
                                 "3: builds and scans"));
    create_webhook versions =
        filtered(resource_type::registered_model_version, resource_type::none, resource_type::none);
    versions.settings.name = "versions";
    versions.settings.event_types = {event_type::update};
    revisions.push_back(log.done(versions, "4: changes of versions"));
    create_webhook of_ann = hook_command("everything", {event_type::create, event_type::read});
    of_ann.workspace_id.value = 2;
    revisions.push_back(log.done(of_ann, "5: in Ann's workspace"));
    const std::vector<create_webhook> others{
        filtered(resource_type::registered_model, resource_type::none, resource_type::none),
        filtered(resource_type::none, resource_type::endpoint, resource_type::none),
        filtered(resource_type::all, resource_type::none, resource_type::none),
        filtered(resource_type::none, resource_type::all, resource_type::none),
        filtered(resource_type::none, resource_type::none, resource_type::all)};
    for (create_webhook other : others) {
        const string name = std::to_string(revisions.size() + 1);
        other.settings.name = name;
        other.settings.location = "http://example.org/" + string(2'029, 'x');
        other.settings.resource_types.resize(16, other.settings.resource_types.front());
        revisions.push_back(log.done(other, name + ": with a filter, sixteen times"));
    }

    log.user = ann;
    log.refused(delete_webhooks{{webhook_id{5}}}, "by somebody who is no system administrator");
    log.user = admin;
    log.done(set_webhooks_by{schemas::webhooks_by::workspace_admins});
    log.user = ann;
    log.refused(delete_webhooks{{webhook_id{1}}}, "by somebody who is no admin of the workspace either");
    log.user = admin;
    log.done(set_webhooks_by{schemas::webhooks_by::system_admins}, "as at first");
    log.refused(delete_webhooks{}, "of none");
    log.refused(delete_webhooks{std::vector(101, webhook_id{5})}, "too many at once");
    log.refused(delete_webhooks{{webhook_id{5}, webhook_id{99}}}, "of one that there is none of");
    log.done(delete_webhooks{{webhook_id{5}, webhook_id{5}}});
    tell_of_health(log, revisions);
}

void tell_of_news(golden_writer& log, std::uint64_t webhooks) {
    create_webhook watcher = hook_command("watcher", {event_type::webhook_health, event_type::transition});
    log.done(watcher, "that hears of the others");
    watcher.settings.name = "deaf";
    watcher.settings.event_types = {event_type::webhook_health};
    watcher.settings.resource_types =
        filtered(resource_type::all, resource_type::none, resource_type::none).settings.resource_types;
    log.refused(watcher, "for WEBHOOK_HEALTH with resource types");
    const std::uint64_t revision = log.done(hook_command("failing", {event_type::promote}), "that fails");
    create_event event;
    event.event_uuid = "news";
    event.event_type = event_type::transition;
    event.resource_type = resource_type::registered_model_version;
    log.refused(event, "that only Herald tells");
    tell_of_told_health(log, webhooks + 2, revision);
    tell_of_settings(log, webhooks + 2);
}

void tell_of_bounds(golden_writer& log) {
    create_webhook hook = hook_command("", {event_type::promote});
    hook.workspace_id.value = 3;
    for (int i = 1; i <= 257; ++i) {
        hook.settings.name = "hook " + std::to_string(i);
        if (i <= 256)
            log.done(hook, "in Bob's workspace");
        else
            log.refused(hook, "one too many");
    }
    for (const std::uint64_t first : {11u, 111u}) {
        delete_webhooks some;
        for (std::uint64_t id = first; id < first + 100; ++id) some.ids.push_back(webhook_id{id});
        log.done(some, "a hundred");
    }

    create_build build;
    build.workspace_name = "default";
    build.model_version_id.value = 2;
    build.external_location = "registry.example.org/image";
    build.creator_request.text = "{}";
    for (int i = 1; i <= 1'000; ++i) log.done(build, "one of a thousand");
    log.refused(build, "one too many");
}

}  // namespace herald::test
