// Of the golden log: webhooks that change, and events that others report.
#include "tests/unit/storage/registry/golden_story.hpp"

namespace herald::test {
namespace {

using namespace schemas::commands;
using schemas::event_type;
using schemas::resource_filter;
using schemas::resource_type;
using schemas::webhook_id;
using std::string;

constexpr webhook_id changed{4};  // hears changes of versions

resource_filter registry_filter(resource_type type) {
    return {type, resource_type::none, resource_type::none};
}

update_webhook update_command() {
    update_webhook command;
    command.id = changed;
    return command;
}

void tell_of_refused_updates(golden_writer& log) {
    update_webhook command = update_command();
    log.user = ann;
    log.refused(command, "by somebody who is no system administrator");
    log.user = admin;
    command.id.value = 9'999;
    log.refused(command, "of a webhook that there is none of");
    command = update_command();
    command.set_all_events = command.clear_all_events = true;
    log.refused(command, "to all events and not to all");
    command = update_command();
    command.add_event_types = command.delete_event_types = {event_type::promote};
    log.refused(command, "that adds and deletes a type");
    command = update_command();
    command.add_resource_types = command.delete_resource_types = {registry_filter(resource_type::all)};
    log.refused(command, "that adds and deletes a filter");
    command = update_command();
    command.new_location = "ftp://example.org";
    log.refused(command, "to a location that is none");
    command = update_command();
    command.add_resource_types = {registry_filter(resource_type::build)};
    log.refused(command, "to a filter of the other service");
    command = update_command();
    command.delete_event_types = {event_type::update};
    log.refused(command, "to no events");
}

void tell_of_updates(golden_writer& log) {
    log.done(update_command(), "that changes nothing");
    update_webhook command = update_command();
    command.new_location = "https://example.org/other";
    command.sealed_secret = "sealed";
    command.seal_binding = "webhook:2";
    command.add_event_types = {event_type::promote, event_type::update};
    command.delete_event_types = {event_type::create};
    log.done(command, "of location, secret and types");
    command = update_command();
    command.set_all_events = true;
    command.add_resource_types = {registry_filter(resource_type::registered_model)};
    command.delete_resource_types = {registry_filter(resource_type::registered_model_version)};
    log.done(command, "to all events of models");
    command = update_command();
    command.clear_all_events = true;
    command.delete_resource_types = {registry_filter(resource_type::registered_model)};
    log.done(command, "back to its types, of everything");
}

void tell_of_statuses(golden_writer& log) {
    using schemas::webhook_status;
    log.user = ann;
    log.refused(set_webhook_status{changed, webhook_status::disabled},
                "by somebody who is no system administrator");
    log.user = admin;
    log.refused(set_webhook_status{webhook_id{9'999}, webhook_status::disabled},
                "of a webhook that there is none of");
    log.done(set_webhook_status{changed, webhook_status::disabled}, "disabled");
    log.done(set_webhook_status{changed, webhook_status::disabled}, "disabled again: nothing");
    log.done(set_webhook_status{changed, webhook_status::enabled}, "enabled");
    log.done(set_webhook_status{changed, webhook_status::enabled}, "enabled again: nothing");
}

create_event event_command(const string& uuid) {
    create_event command;
    command.event_uuid = uuid;
    command.event_type = event_type::update;
    command.resource_type = resource_type::endpoint;
    command.resource_id = "7";
    command.new_entity.text = R"({"id":"7"})";
    return command;
}

void tell_of_external_events(golden_writer& log) {
    create_event command = event_command("one");
    log.user = ann;
    log.refused(command, "by somebody who is no system administrator");
    log.user = admin;
    command.workspace_id.value = 9'999;
    log.refused(command, "in a workspace that there is none of");
    log.refused(event_command(""), "without a name of its own");
    log.refused(event_command(string(49, 'x')), "with too long a name");
    log.refused(event_command("a b"), "with a space in its name");
    command = event_command("one");
    command.event_type = event_type::promote;
    log.refused(command, "of a type that Herald alone tells");
    command = event_command("one");
    command.resource_type = resource_type::all;
    log.refused(command, "about everything");
    command = event_command("one");
    command.timestamp = -1;
    log.refused(command, "before the epoch");
    command = event_command("one");
    command.resource_id = string(257, 'x');
    log.refused(command, "whose entity has too long an id");
    command = event_command("one");
    command.new_entity.text = "7";
    log.refused(command, "whose entity is no object");

    command = event_command("one");
    command.original_entity.text = R"({"id":"7","path":"/a"})";
    command.timestamp = 1'600'000'000'000;
    log.done(command, "told at another time");
    log.done(event_command("one"), "told again: the first");
    command = event_command(string(48, 'x'));
    command.resource_id.clear();
    command.workspace_id.value = 2;
    log.done(command, "heard by nobody");
}

}  // namespace

void tell_of_reported_events(golden_writer& log) {
    tell_of_refused_updates(log);
    tell_of_updates(log);
    tell_of_statuses(log);
    tell_of_external_events(log);
    log.now_ms += 30 * day_ms;
    log.done(no_operation{}, "a month later");
    log.done(event_command("one"), "forgotten: told anew");
}

}  // namespace herald::test
