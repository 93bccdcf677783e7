#include "schemas/views.hpp"

#include "runtime/text.hpp"
#include "schemas/json_codec.hpp"

namespace herald::schemas {
namespace {

std::string quoted(std::string_view text) {
    std::string out;
    runtime::append_json_string(out, text);
    return out;
}

std::string results_of(const scan& scan) {
    return object_writer().text("safety_status", name_of(scan.safety_status)).text("url", scan.url).finish();
}

object_writer scan_members(const scan& scan) {
    object_writer out;
    out.number("id", scan.id.value)
        .number("build_id", scan.build_id.value)
        .raw("creator_request", scan.creator_request.text)
        .text("date_created", runtime::iso8601_ms(scan.time_created))
        .text("date_updated", runtime::iso8601_ms(scan.time_updated))
        .text("scan_status", name_of(scan.scan_status))
        .text("safety_status", name_of(scan.safety_status))
        .raw("scan_external_status", results_of(scan))
        .raw("scan_external_results", results_of(scan));
    if (!scan.message.empty()) out.text("message", scan.message);
    return out;
}

/// A text's JSON form is the string; any other value becomes the text of its JSON form.
std::string as_text(const json_text& value) {
    return value.text.starts_with('"') ? value.text : quoted(value.text);
}

}  // namespace

std::string view_of(const registered_model& model) {
    return object_writer()
        .members_of(to_json_object(model, integers::as_strings))
        .quoted_number("owner_id", model.owner.value)
        .quoted_number("workspace_service_id", model.workspace_id.value)
        .finish();
}

std::string view_of(const model_version& version) { return to_json_object(version, integers::as_strings); }
std::string view_of(const activity& entry) { return to_json_object(entry, integers::as_strings); }

std::string view_of(const user& user, std::string_view dev_key) {
    object_writer out;
    out.text("email", user.email).text("full_name", user.full_name);
    if (!dev_key.empty()) out.text("dev_key", dev_key);
    out.raw("verta_info", object_writer()
                              .quoted_number("user_id", user.id.value)
                              .text("username", user.username)
                              .quoted_number("default_workspace_id", user.default_workspace_id.value)
                              .finish());
    return out.finish();
}

std::string view_of(const workspace& workspace) {
    object_writer out;
    out.quoted_number("id", workspace.id.value);
    if (workspace.org_id)
        out.text("org_id", std::to_string(workspace.org_id.value)).text("org_name", workspace.name);
    else
        out.text("user_id", std::to_string(workspace.owner.value)).text("username", workspace.name);
    return out.finish();
}

std::string view_of(const build& build) {
    return object_writer()
        .number("id", build.id.value)
        .number("model_version_id", build.model_version_id.value)
        .number("workspace_id", build.workspace_id.value)
        .text("status", name_of(build.status))
        .text("location", build.location)
        .text("message", build.message)
        .text("date_created", runtime::iso8601_ms(build.time_created))
        .text("date_updated", runtime::iso8601_ms(build.time_updated))
        .raw("creator_request", build.creator_request.text)
        .flag("requires_root", build.requires_root)
        .flag("scan_external", build.scan_external)
        .flag("self_contained", build.self_contained)
        .flag("uses_flask", build.uses_flask)
        .text("upstream_url", build.upstream_url)
        .finish();
}

std::string view_of(const build& build, const scan& newest, std::span<const scan> history) {
    scan shown = newest;
    if (!shown.id) {
        shown.build_id = build.id;
        shown.time_created = build.time_created;
        shown.time_updated = build.time_updated;
    }
    const std::string earlier =
        json_list(history, [](const scan& old) { return scan_members(old).finish(); });
    return scan_members(shown).raw("history", earlier).finish();
}

std::string promote_body(const model_version& version) {
    const std::string attributes = json_list(version.attributes, [](const key_value& attribute) {
        return object_writer().text("key", attribute.key).raw("value", as_text(attribute.value)).finish();
    });
    return object_writer()
        .quoted_number("id", version.id.value)
        .quoted_number("registered_model_id", version.registered_model_id.value)
        .text("version", version.version)
        .text("time_created", std::to_string(version.time_created))
        .text("time_updated", std::to_string(version.time_updated))
        .text("readme_text", version.readme_text)
        .quoted_number("owner", version.owner.value)
        .raw("attributes", attributes)
        .text("stage", name_of(version.stage))
        .text("lock_level", name_of(version.lock_level))
        .quoted_number("version_number", version.version_number)
        .finish();
}

}  // namespace herald::schemas
