// Of the golden log: models and their versions.
#include "storage/registry/tables/tables.hpp"
#include "tests/unit/storage/registry/golden_story.hpp"

namespace herald::test {
namespace {

using namespace schemas::commands;
using schemas::artifact;
using schemas::key_value;
using schemas::lock_level;
using schemas::version_content;
using std::string;

string text_of(std::size_t bytes) { return string(bytes, 'x'); }

create_model model_command(const string& name) {
    create_model command;
    command.workspace_name = "default";
    command.model.name = name;
    return command;
}

create_version version_command(const string& name) {
    create_version command;
    command.registered_model_id.value = 1;
    command.version.version = name;
    return command;
}

artifact artifact_named(const string& key) {
    artifact made;
    made.key = key;
    made.path = "/models/" + key;
    made.artifact_type = schemas::artifact_type::model;
    return made;
}

key_value number(const string& key, const string& value) {
    return {key, {value}, schemas::value_type::number};
}

/// Every member that a user may set.
version_content content_of_version(const string& name, const string& words) {
    version_content content;
    content.version = name;
    content.description = words;
    content.labels = {"second", "first", words};
    content.readme_text = words;
    content.attributes = {number("auc", "0.91"), number("size", "3"), number("size", "4")};
    content.model = artifact_named("model.onnx");
    content.artifacts = {artifact_named("vocabulary"), artifact_named(words)};
    content.environment.text = R"({"python":{"version":"3.11"}})";
    content.docker_metadata.text = R"({"repository":")" + words + R"("})";
    content.datasets = {artifact_named("train"), artifact_named(words)};
    content.code_blob_map.text = R"({"code":{"notebook":{"path":{"size":"7"}}}})";
    content.archived = schemas::ternary::true_;
    content.apis = {"v1"};
    content.input_description = content.output_description = words;
    content.hide_input_label = content.hide_output_label = true;
    return content;
}

update_version update_of(std::uint64_t version, update_mode mode) {
    update_version command;
    command.id.value = version;
    command.mode = mode;
    return command;
}
update_version attribute_of(std::uint64_t version) {
    update_version command = update_of(version, update_mode::merge);
    command.present = {"attributes"};
    command.version.attributes = {number("auc", "0.92")};
    return command;
}
update_version by_name(const string& model, const string& version) {
    update_version command;
    command.workspace_name = "default";
    command.model_name = model;
    command.version_or_name = version;
    return command;
}

void tell_of_refused_models(golden_writer& log) {
    create_model command = model_command("fraud");
    command.workspace_name = "nowhere";
    log.refused(command, "in a workspace that there is none of");
    log.user = ann;
    log.refused(model_command("fraud"), "by somebody who may not see the workspace");
    permit_everybody(log, read_only);
    log.refused(model_command("fraud"), "by somebody who may only read");
    log.user = admin;
    log.refused(model_command(""), "without a name");
    command = model_command("fraud");
    command.model.description = text_of(64 * 1024 + 1);
    log.refused(command, "with a description that is too long");
    command = model_command("fraud");
    command.model.readme_text = text_of(256 * 1024 + 1);
    log.refused(command, "with a readme that is too long");
    command.model.readme_text = string(130'000, '\x01');
    log.refused(command, "too large as JSON");
    command.model.readme_text = text_of(200 * 1024);
    command.model.description = text_of(64 * 1024);
    log.refused(command, "too large");
    command = model_command("fraud");
    command.model.labels = std::vector<string>(257, "label");
    log.refused(command, "with too many labels");
    command.model.labels = {" "};
    log.refused(command, "with a label that does not show");
    command = model_command("fraud");
    command.model.attributes = std::vector(1'001, number("key", "1"));
    log.refused(command, "with too many attributes");
    command.model.attributes = {number("", "1")};
    log.refused(command, "with an attribute without a key");
}

void tell_of_refused_versions(golden_writer& log) {
    create_version command = version_command("1.0");
    command.registered_model_id.value = 99;
    log.refused(command, "of a model that there is none of");
    command.registered_model_id.value = 0;
    command.workspace_name = "default";
    command.model_name = "weather";
    log.refused(command, "of a model that there is none of");
    command = version_command("1.0");
    command.registered_model_id.value = 3;
    log.refused(command, "of a model that he may not see");
    log.user = ann;
    log.refused(version_command("1.0"), "by somebody who may only read");
    log.user = admin;
    log.refused(version_command(""), "without a name");
    command = version_command("1.0");
    command.version.labels = std::vector<string>(257, "label");
    log.refused(command, "with too many labels");
    command = version_command("1.0");
    command.version.attributes = std::vector(1'001, number("key", "1"));
    log.refused(command, "with too many attributes");
    command = version_command("1.0");
    command.version.readme_text = text_of(256 * 1024 + 1);
    log.refused(command, "with a readme that is too long");
    command = version_command("1.0");
    command.version.artifacts = std::vector(1'001, artifact_named("key"));
    log.refused(command, "with too many artifacts");
    command.version.artifacts = {artifact_named("")};
    log.refused(command, "with an artifact without a key");
    command = version_command("1.0");
    command.version.datasets = {artifact_named("\n")};
    log.refused(command, "with a dataset whose key does not show");
    command.version.datasets = {artifact_named("key")};
    command.version.datasets.front().path = "p\u200B";
    log.refused(command, "with a dataset whose path does not show");
    command = version_command("1.0");
    command.version.code_blob_map.text = "{\"co\u200Bde\":{}}";
    log.refused(command, "with code whose name does not show");
    for (auto member : {&version_content::environment, &version_content::docker_metadata,
                        &version_content::code_blob_map}) {
        command = version_command("1.0");
        (command.version.*member).text = "1";
        log.refused(command, "with a number for an object");
    }
    command = version_command("1.0");
    command.version.model = artifact_named(text_of(257));
    log.refused(command, "with a model whose key is too long");
    for (auto member : {&version_content::description, &version_content::input_description,
                        &version_content::output_description}) {
        command = version_command("1.0");
        command.version.*member = text_of(64 * 1024 + 1);
        log.refused(command, "with a text that is too long");
    }
    command = version_command("1.0");
    command.version.readme_text = text_of(256 * 1024);
    log.refused(command, "too large");
    command = version_command("1.0");
    command.experiment_run_id = "run";
    log.refused(command, "of an experiment run that there is none of");
}

void tell_of_parts_of_a_closed_version(golden_writer& log) {
    log.refused(attribute_of(2), "of what is CLOSED");
    const version_content content = content_of_version("closed", "words");
    for (const char* part :
         {"model", "artifacts", "datasets", "environment", "docker_metadata", "code_blob_map"}) {
        update_version command = update_of(2, update_mode::merge);
        command.present = {part};
        command.version = content;
        log.refused(command, string("of what is CLOSED: ") + part);
    }
}

/// A version has some already, and becomes too large by what is added.
void tell_of_too_much_together(golden_writer& log) {
    update_version command = update_of(1, update_mode::merge);
    command.present = {"labels", "attributes", "artifacts", "datasets"};
    for (int i = 0; i < 256; ++i) command.version.labels.push_back(std::to_string(i));
    log.refused(command, "with too many labels together");
    command.version.labels.clear();
    for (int i = 0; i < 1'000; ++i) command.version.attributes.push_back(number(std::to_string(i), "1"));
    log.refused(command, "with too many attributes together");
    command.version.attributes.clear();
    for (int i = 0; i < 1'000; ++i) command.version.artifacts.push_back(artifact_named(std::to_string(i)));
    log.refused(command, "with too many artifacts together");
    std::swap(command.version.artifacts, command.version.datasets);
    log.refused(command, "with too many datasets together");
}

void tell_of_refused_updates(golden_writer& log) {
    update_version command = update_of(99, update_mode::merge);
    log.refused(command, "of a version that there is none of");
    command.id.value = 1;
    command.registered_model_id.value = 2;
    log.refused(command, "of another model's version");
    log.refused(by_name("weather", "1.0"), "of a model that there is none of");
    log.refused(by_name("fraud", "2.0"), "of a version that there is none of");
    log.refused(by_name("fraud", "1"), "of a number that is an id and a name");
    log.user = ann;
    log.refused(update_of(1, update_mode::merge), "by somebody who may only read");
    log.user = admin;
    command = update_of(1, update_mode::merge);
    command.redirect_metadata = "example.org";
    log.refused(command, "with half a URL");
    command.redirect_metadata = "https://example.org/1";
    log.refused(command, "that completes a promotion, and there is none");
    command = update_of(1, update_mode::merge);
    command.present = {"version"};
    command.version.version = "closed";
    log.refused(command, "with the name of another");
    command.version.version = "";
    log.refused(command, "without a name");
    command.version.labels = std::vector<string>(257, "label");
    log.refused(command, "with too many labels");
    command = update_of(1, update_mode::replace);
    command.version.readme_text = text_of(256 * 1024);
    log.refused(command, "too large");
    tell_of_parts_of_a_closed_version(log);
    tell_of_too_much_together(log);
}

/// Parts that mean what they meant stay as they are stored, to the byte.
void tell_of_what_means_the_same(golden_writer& log) {
    create_version command = version_command("7");
    command.version.environment.text =
        R"({"a":1,"b":"","c":"0","size":"0","d":false,"e":[],"f":[1,2],"g":null,"h":0,"h2":0.0,)"
        R"("i":18446744073709551615,"j":1.5,"k":123456789012345678901234567890,"m":{"n":1}})";
    command.version.attributes = {number("auc", "0.91"), number("none", "null")};
    log.done(command, "7, whose name is its id");
    update_version update = by_name("fraud", "7");
    update.mode = update_mode::replace;
    update.version = command.version;
    log.done(update, "the same again");
    update.version.version = "7";
    update.version.attributes = {number("auc", "0.910"), number("none", "null")};
    update.version.environment.text =
        R"({"m":{"n":1.0},"a":1.0,"c":"0","f":[1.0,2],"i":1.8446744073709552e19,"j":1.5,)"
        R"("k":1.2345678901234568e29,"new":"","size2":[]})";
    log.done(update, "that means the same, without what is at its default");
    update.version.environment.text =
        R"({ "i":18446744073709551615,"k":123456789012345678901234567890,"c":"0","a":1,"f":[1,2],"j":1.5,)"
        R"("m":{"n":1}})";
    log.done(update, "that means the same, in another order");
    for (const char* other :
         {R"({"a":1,"f":[1,2],"m":{"n":1}})", R"({"a":1,"f":[1],"m":{"n":1}})", R"({"a":1,"f":[1],"m":{}})",
          R"({"a":1,"f":[1],"m":"n"})", R"({"a":1,"f":1,"m":"n"})", R"({"a":"1","f":1,"m":"n"})",
          R"({"a":"1","f":2,"m":"n"})", R"({"a":"1","f":2,"m":"n","size":"1"})",
          R"({"a":"1","f":2,"m":"n","d":true})"}) {
        update.version.environment.text = other;
        log.done(update, "that means something else");
    }
    update.version.attributes = {number("auc", R"({"a":1,"b":""})"), number("none", "null")};
    log.done(update, "with an object for an attribute");
    update.version.attributes[0].value.text = R"({"a":1})";
    log.done(update, "with an attribute without what is at its default");
    update.version.attributes[0].value.text = R"({"a":1.0})";
    log.done(update, "with an attribute that means the same");
    update.version.attributes[0].value.text = R"({"a":1,"b":""})";
    log.done(update, "with an attribute with what is at its default");
    update.version.attributes[0].value_type = schemas::value_type::string;
    log.done(update, "with an attribute of another type");
    update = by_name("fraud", "2");
    update.present = {"hide_input_label"};
    update.version.hide_input_label = true;
    log.done(update, "by an id in place of a name");
}

}  // namespace

void permit_everybody(golden_writer& log, schemas::role_id role) {
    schemas::workspace row;
    row.id.value = 1;
    row.name = "default";
    row.org_id.value = 1;
    row.permissions = {{schemas::group_id{2}, role}};
    row.built_in = true;
    row.time_created = row.time_updated = 1'700'000'000'000;
    row.policies.require_approval_for = {schemas::stage::production};
    row.policies.require_safe_scan_for = {schemas::stage::staging};
    row.admins.value = 1;
    using storage::registry::tables::key_of, storage::registry::tables::table;
    log.put_before_next(key_of(table::workspace).number(row.id), schemas::encode(row));
}

void tell_of_models(golden_writer& log) {
    tell_of_refused_models(log);
    create_model command = model_command("fraud");
    command.model.description = "finds fraud";
    command.model.labels = {"second", "first", "second"};
    command.model.attributes = {number("a", "1"), number("b", "2"), number("a", "3")};
    command.model.readme_text = "# Fraud \u00e9 \"quoted\" \\ \x01";
    command.model.visibility = schemas::visibility::private_;
    command.model.resource_visibility = schemas::resource_visibility::private_;
    command.model.custom_permission = {.collaborator_type = schemas::collaborator_type::read_write};
    command.model.data_type = schemas::data_type::tabular;
    command.model.task_type = schemas::task_type::classification;
    command.model.pii = true;
    log.done(command, "1");
    log.refused(model_command("fraud"), "with the name of another");
    command = model_command(text_of(256));
    command.model.description = text_of(64 * 1024);
    command.model.readme_text = text_of(100 * 1024);
    command.model.labels = std::vector<string>(256, text_of(256));
    command.model.attributes = std::vector(1'000, number(text_of(256), "1"));
    log.done(command, "2, as large as may be");
    log.user = ann;
    command = model_command("weather");
    command.workspace_name = "ann";
    log.done(command, "3, in her own workspace");
    log.user = admin;
}

void tell_of_versions(golden_writer& log) {
    tell_of_refused_versions(log);
    create_version command = version_command("1.0");
    command.version = content_of_version("1.0", "words");
    log.done(command, "1");
    log.refused(version_command("1.0"), "with the name of another");
    command = version_command("closed");
    command.lock_level = lock_level::closed;
    command.version.attributes = {number("auc", "0.9")};
    log.done(command, "2");
    command = version_command("redact");
    command.registered_model_id.value = 0;
    command.workspace_name = "default";
    command.model_name = "fraud";
    command.lock_level = lock_level::redact;
    command.version.model.emplace();
    command.version.code_blob_map.text = "{}";
    log.done(command, "3, with empty parts");
    command = version_command("1");
    command.lock_level = lock_level::unknown;
    log.done(command, "4, whose name is another's id");
    log.user = ann;
    command = version_command("5");
    command.registered_model_id.value = 3;
    log.done(command, "5, in her own workspace");
    log.user = admin;
    command = version_command(text_of(256));
    command.registered_model_id.value = 2;
    command.version = content_of_version(text_of(256), text_of(256));
    command.version.description = text_of(64 * 1024);
    command.version.attributes.clear();
    command.version.artifacts.clear();
    for (int i = 0; i < 1'000; ++i) {
        command.version.attributes.push_back(number(std::to_string(i), "1"));
        command.version.artifacts.push_back(artifact_named(std::to_string(i)));
    }
    command.version.datasets = command.version.artifacts;
    log.done(command, "6, as large as may be");
    tell_of_refused_updates(log);

    update_version update = update_of(1, update_mode::merge);
    update.version = content_of_version("1.1", "others");
    update.version.archived = schemas::ternary::false_;
    update.present = {"version",
                      "description",
                      "readme_text",
                      "labels",
                      "attributes",
                      "model",
                      "artifacts",
                      "environment",
                      "docker_metadata",
                      "datasets",
                      "code_blob_map",
                      "archived",
                      "apis",
                      "input_description",
                      "output_description",
                      "hide_input_label",
                      "hide_output_label"};
    update.present.push_back("what nobody knows");
    log.done(update, "a PATCH of everything");
    log.done(update, "the same again");
    update = update_of(1, update_mode::replace);
    update.registered_model_id.value = 1;
    update.version = content_of_version("", "third");
    log.done(update, "a PUT that keeps the name");
    update.id.value = 0;
    update.registered_model_id.value = 0;
    update.workspace_name = "default";
    update.model_name = "fraud";
    update.version_or_name = "1.1";
    update.version.environment.text = R"({"python":{"version":"3.11","pip":[]}})";
    log.done(update, "a PUT that means the same");
    update = update_of(2, update_mode::merge);
    update.present = {"description"};
    update.version.description = "closed, but not mute";
    log.done(update, "of what is CLOSED, but not of what it is made of");
    permit_everybody(log, read_write);
    log.user = ann;
    log.refused(attribute_of(3), "of what is REDACT, by somebody who is no workspace admin");
    log.user = admin;
    permit_everybody(log, read_only);
    log.done(attribute_of(3), "of what is REDACT");
    tell_of_what_means_the_same(log);
}

}  // namespace herald::test
