// Of the golden log: models and versions changed, locked and deleted.
#include "tests/unit/storage/registry/golden_story.hpp"

namespace herald::test {
namespace {

using namespace schemas::commands;
using schemas::artifact;
using schemas::key_value;
using schemas::lock_level;
using schemas::model_content;
using schemas::model_id;
using schemas::stage;
using schemas::version_id;
using std::string;

// What the chapters before have made ends below these.
constexpr model_id later{4}, doomed{5};
constexpr version_id first{8}, second{9}, long_lived{10}, built{11}, closed_one{12};

key_value number(const string& key, const string& value) {
    return {key, {value}, schemas::value_type::number};
}

artifact file_named(const string& key) {
    artifact made;
    made.key = key;
    made.path = "/files/" + key;
    return made;
}

create_model model_command(const string& name) {
    create_model command;
    command.workspace_name = "default";
    command.model.name = name;
    return command;
}

create_version version_command(model_id model, const string& name) {
    create_version command;
    command.registered_model_id = model;
    command.version.version = name;
    return command;
}

update_model update_of(model_id id, update_mode mode, std::vector<string> present = {}) {
    update_model command;
    command.id = id;
    command.mode = mode;
    command.present = std::move(present);
    return command;
}

update_version change_of(version_id id, update_mode mode, std::vector<string> present = {}) {
    update_version command;
    command.id = id;
    command.mode = mode;
    command.present = std::move(present);
    return command;
}

delete_version deletion_of(version_id id) {
    delete_version command;
    command.id = id;
    return command;
}

model_content everything() {
    model_content content;
    content.name = "later, and more";
    content.description = "finds more fraud";
    content.labels = {"second", "first", "second"};
    content.attributes = {number("a", "1"), number("b", "2")};
    content.readme_text = "# Later";
    content.visibility = schemas::visibility::private_;
    content.resource_visibility = schemas::resource_visibility::private_;
    content.custom_permission.emplace();
    content.data_type = schemas::data_type::tabular;
    content.task_type = schemas::task_type::classification;
    content.pii = true;
    return content;
}

void tell_of_refused_changes_of_models(golden_writer& log) {
    log.refused(update_of(model_id{99}, update_mode::merge), "of a model that there is none of");
    update_model by_name;
    by_name.workspace_name = "default";
    by_name.model_name = "nothing";
    log.refused(by_name, "of a model that there is none of");
    log.user = ann;
    log.refused(update_of(later, update_mode::merge), "by somebody who may only read");
    log.refused(delete_model{later, "", ""}, "by somebody who may only read");
    log.user = admin;
    log.refused(delete_model{model_id{99}, "", ""}, "of a model that there is none of");
    log.refused(update_of(later, update_mode::merge, {"name"}), "without a name");
    update_model command = update_of(later, update_mode::replace);
    command.model.name = "fraud";
    log.refused(command, "with the name of another");
    command.model.labels = std::vector<string>(257, "label");
    log.refused(command, "with too many labels");
    command.model.labels.clear();
    command.model.attributes = std::vector(1'001, number("key", "1"));
    log.refused(command, "with too many attributes");
    command.model.attributes.clear();
    command.model.name.clear();
    command.model.readme_text = string(256 * 1024, 'x');
    log.refused(command, "too large");
}

void tell_of_changed_models(golden_writer& log) {
    log.done(model_command("later"), "4");
    tell_of_refused_changes_of_models(log);
    update_model command = update_of(
        later, update_mode::merge,
        {"name", "description", "labels", "attributes", "readme_text", "visibility", "resource_visibility",
         "custom_permission", "data_type", "task_type", "pii", "what nobody knows"});
    command.model = everything();
    log.done(command, "a PATCH of everything");
    log.done(command, "the same again");
    command.mode = update_mode::replace;
    command.model.name.clear();
    command.model.visibility.reset();
    command.model.custom_permission.reset();
    log.done(command, "a PUT of the same, without what is at its default");
    command = update_of(later, update_mode::merge, {"labels", "attributes"});
    command.model.labels = {"0", "first"};
    command.model.attributes = {number("a", "1.0"), number("c", "3")};
    log.done(command, "a PATCH of lists, which merges");
    command.mode = update_mode::members;
    log.done(command, "a PATCH of lists, which replaces");
    command = update_of({}, update_mode::replace);
    command.workspace_name = "default";
    command.model_name = "later, and more";
    command.model.name = "later";
    log.done(command, "a PUT of hardly anything, by name");
}

void tell_of_changed_versions(golden_writer& log) {
    create_version made = version_command(later, "1");
    made.version.artifacts = {file_named("model")};
    log.refused(made, "with a file that has the model's key");
    made.version.artifacts = {file_named("a"), file_named("b"), file_named("a")};
    log.refused(made, "with a file that is there twice");
    made.version.artifacts.pop_back();
    log.done(made, "8");
    log.done(version_command(later, "8"), "9, whose name is another's id");

    update_version change = change_of(first, update_mode::members,
                                      {"version", "labels", "attributes", "artifacts", "datasets", "apis"});
    change.version.version = "first";
    change.version.labels = {"z", "y"};
    change.version.artifacts = {file_named("c")};
    log.done(update_version_members{change}, "which replaces lists");
    log.done(update_version_members{change}, "the same again");
    change.version.artifacts = {file_named("model")};
    log.refused(update_version_members{change}, "with a file that has the model's key");
    change.id.value = 99;
    log.refused(update_version_members{change}, "of a version that there is none of");
    change = change_of(first, update_mode::members, {"version"});
    change.redirect_metadata = "https://example.org/served";
    log.refused(update_version_members{change}, "that completes a promotion, and there is none");

    update_version logged = change_of(first, update_mode::merge, {"code_blob_map"});
    logged.version.code_blob_map.text = R"({"git":{"git":{"repo":"r","is_dirty":"TRUE"}},"b":{"git":{}}})";
    log.done(log_version_parts{logged}, "of code");
    logged.version.code_blob_map.text = R"({"b":{"git":{"hash":"h"}},"n":{"notebook":{"path":{"size":7}}}})";
    log.done(log_version_parts{logged}, "of more code");
    logged.version.code_blob_map.text = R"({"git":{"git":{"repo":"r","is_dirty":1}}})";
    log.done(log_version_parts{logged}, "of code that means the same");
    logged.version.code_blob_map.text = R"({"n":{"notebook":{"path":{"size":"7"}}}})";
    log.done(log_version_parts{logged}, "of code that means the same");
    logged.version.code_blob_map.text = "{}";
    log.done(log_version_parts{logged}, "of no code");
    logged.version.code_blob_map.text = "[1]";
    log.refused(log_version_parts{logged}, "of a list for an object");
    logged = change_of(first, update_mode::merge, {"datasets", "attributes", "docker_metadata"});
    logged.version.datasets = {file_named("train")};
    logged.version.attributes = {number("auc", "0.9")};
    logged.version.docker_metadata.text = R"({"request_port":8080})";
    log.done(log_version_parts{logged}, "of the rest");
}

void tell_of_locks(golden_writer& log) {
    log.refused(lock_version{version_id{99}, lock_level::closed}, "of a version that there is none of");
    log.refused(lock_version{first, lock_level::unknown}, "at no level");
    log.user = ann;
    log.refused(lock_version{first, lock_level::redact}, "by somebody who may only read");
    create_version of_a_run = version_command(later, "of a run");
    of_a_run.experiment_run_id = "run";
    log.refused(of_a_run, "of an experiment run that there is none of, by somebody who may only read");
    permit_everybody(log, read_write);
    log.done(lock_version{first, lock_level::redact});
    log.done(lock_version{first, lock_level::redact}, "the same again");
    log.refused(lock_version{first, lock_level::open}, "by somebody who is no workspace admin");
    update_version attribute = change_of(first, update_mode::merge, {"attributes"});
    attribute.version.attributes = {number("auc", "0.91")};
    log.refused(attribute, "of what is REDACT, by somebody who is no workspace admin");
    attribute.version.attributes = {number("", "1")};
    log.refused(attribute, "of what is REDACT, with what is wrong, by somebody who is no workspace admin");
    log.refused(deletion_of(first), "of what is REDACT, by somebody who is no workspace admin");
    log.done(lock_version{first, lock_level::closed});
    log.refused(lock_version{first, lock_level::redact}, "by somebody who is no workspace admin");
    permit_everybody(log, read_only);
    log.refused(attribute, "of what is CLOSED, by somebody who may only read");
    log.refused(deletion_of(first), "of what is CLOSED, by somebody who may only read");
    log.refused(change_of(first, update_mode::merge), "of nothing, by somebody who may only read");
    log.refused(deletion_of(second), "by somebody who may only read");
    log.user = admin;
    log.refused(attribute, "of what is CLOSED, by an admin");
    log.refused(deletion_of(first), "of what is CLOSED, by an admin");
    log.done(lock_version{first, lock_level::redact}, "by an admin");
}

/// To the stage where it is: only the activity and its closed transition remain.
void tell_of_stages_of(golden_writer& log, version_id version, int times) {
    for (int i = 0; i < times; ++i) {
        log.done(create_transition{version, stage::unassigned, ""}, "to where it is");
        ++log.activities;
    }
}

void tell_of_deleted_versions(golden_writer& log) {
    log.refused(deletion_of(version_id{99}), "of a version that there is none of");
    delete_version by_name;
    by_name.workspace_name = "default";
    by_name.model_name = "later";
    by_name.version_or_name = "8";
    log.refused(by_name, "of a number that is an id and a name");
    by_name.version_or_name = "first";
    log.done(by_name, "8");
    log.refused(deletion_of(first), "of what is gone");
    log.done(version_command(later, "long lived"), "10");
    tell_of_stages_of(log, long_lived, 210);
    log.done(deletion_of(long_lived), "10, which leaves much behind");
    log.done(no_operation{}, "a sweep");
    log.done(no_operation{}, "after the sweep");
}

void tell_of_a_deleted_model(golden_writer& log) {
    log.done(model_command("doomed"), "5");
    log.done(version_command(doomed, "built"), "11");
    create_version made = version_command(doomed, "closed");
    made.lock_level = lock_level::closed;
    log.done(made, "12");
    request_version_scan unbuilt;
    unbuilt.model_version_id = closed_one;
    log.done(unbuilt, "which no build can be made for");
    ++log.activities;
    log.done(unbuilt, "again, of the same build");
    create_build build;
    build.workspace_name = "default";
    build.model_version_id = built;
    build.external_location = "registry.example.org/doomed";
    build.creator_request.text = "{}";
    build.run_id = "run";
    log.refused(build, "of an experiment run that there is none of");
    build.run_id.clear();
    log.done(build);
    request_version_scan scan;
    scan.model_version_id = built;
    scan.creator_request.text = "{}";
    log.done(scan, "which nobody will report");
    const schemas::activity_id production{++log.activities};
    log.done(create_transition{built, stage::production, ""});
    log.user = bob;
    log.done(review_transition{production, true, "yes"});
    log.user = admin;
    log.done(commit_transition{production, "go"}, "to PRODUCTION");
    log.done(create_transition{built, stage::development, ""}, "which stays open");
    log.activities += 3;
    tell_of_stages_of(log, closed_one, 310);

    log.done(delete_model{{}, "default", "doomed"}, "5, with a version that is CLOSED");
    log.refused(delete_model{doomed, "", ""}, "of what is gone");
    log.refused(deletion_of(closed_one), "of what is gone with its model");
    log.done(model_command("doomed"), "6, whose name is free");
    for (int i = 0; i < 3; ++i) log.done(no_operation{}, "a sweep");
    log.done(no_operation{}, "after the sweep");
}

}  // namespace

void tell_of_the_registry(golden_writer& log) {
    tell_of_changed_models(log);
    tell_of_changed_versions(log);
    tell_of_locks(log);
    tell_of_deleted_versions(log);
    tell_of_a_deleted_model(log);
}

}  // namespace herald::test
