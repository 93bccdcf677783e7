#include "schemas/views.hpp"

#include "runtime/random.hpp"
#include "runtime/text.hpp"
#include "schemas/json_codec.hpp"

namespace herald::schemas {
namespace {

std::string in_quotes(std::string_view text) {
    std::string out;
    runtime::append_json_string(out, text);
    return out;
}

/// A text's JSON form is the string; any other value becomes the text of its JSON form.
std::string as_text(const json_text& value) {
    if (value.text.empty()) return in_quotes("null");
    return value.text.starts_with('"') ? value.text : in_quotes(value.text);
}

std::vector<model_tensor> tensors_of(std::vector<tensor_spec> specs) {
    std::vector<model_tensor> out;
    for (tensor_spec& each : specs) {
        model_tensor& made = out.emplace_back();
        made.name = std::move(each.name);
        made.datatype = name_of(each.type);
        if (!has_unknown_rank(each)) made.shape = std::move(each.shape);
    }
    return out;
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

build_record record_of(build row) {
    build_record out;
    static_cast<build_content&>(out) = row;
    out.id = row.id;
    out.model_version_id = row.model_version_id;
    out.workspace_id = row.workspace_id;
    out.status = row.status;
    out.location = std::move(row.location);
    out.message = std::move(row.message);
    out.date_created = runtime::iso8601_ms(row.time_created);
    out.date_updated = runtime::iso8601_ms(row.time_updated);
    out.creator_request = std::move(row.creator_request);
    out.scan_status = row.scan_status;
    out.safety_status = row.safety_status;
    out.inputs = tensors_of(std::move(row.signature.inputs));
    out.outputs = tensors_of(std::move(row.signature.outputs));
    return out;
}

std::string view_of(const build& build) { return to_json_object(record_of(build), integers::as_numbers); }

endpoint_record record_of(endpoint row) {
    return {runtime::uuid_text(row.id),
            std::move(row.path),
            std::move(row.creator_request),
            runtime::iso8601_ms(row.time_created),
            runtime::iso8601_ms(row.time_updated),
            row.owner_id,
            row.workspace_id};
}

std::string view_of(const endpoint& row) { return to_json_object(record_of(row), integers::as_numbers); }

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
