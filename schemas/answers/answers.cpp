// Makes answers from rows.
#include "runtime/text.hpp"
#include "schemas/answers/audit.hpp"
#include "schemas/answers/deliveries.hpp"
#include "schemas/answers/deployment.hpp"
#include "schemas/answers/identity.hpp"
#include "schemas/answers/models.hpp"
#include "schemas/answers/stages.hpp"
#include "schemas/answers/versions.hpp"
#include "schemas/answers/webhooks.hpp"

namespace herald::schemas::answers {
model of(schemas::registered_model row) {
    model out{std::move(row), {}, {}};
    out.owner_id = out.owner;
    out.workspace_service_id = out.workspace_id;
    return out;
}

version of(schemas::model_version row) { return {std::move(row)}; }

policies of(workspace_policies row) { return {std::move(row)}; }

promotion of(schemas::promotion row) { return {std::move(row), std::nullopt, std::nullopt}; }

build of(schemas::build row) { return {record_of(std::move(row))}; }

earlier_scan of(schemas::scan row) {
    earlier_scan out;
    out.id = row.id;
    out.build_id = row.build_id;
    out.creator_request = std::move(row.creator_request);
    out.date_created = runtime::iso8601_ms(row.time_created);
    out.date_updated = runtime::iso8601_ms(row.time_updated);
    out.scan_status = row.scan_status;
    out.safety_status = row.safety_status;
    out.scan_external_status = {row.safety_status, row.url};
    out.scan_external_results = {row.safety_status, std::move(row.url)};
    out.message = std::move(row.message);
    out.requested_by = row.requested_by;
    return out;
}

scan of(schemas::scan newest, std::vector<earlier_scan> history, std::vector<unconfirmed_node> unconfirmed) {
    return {of(std::move(newest)), std::move(unconfirmed), std::move(history)};
}

user of(schemas::user row) {
    user out;
    out.email = std::move(row.email);
    out.full_name = std::move(row.full_name);
    out.verta_info = {row.id, std::move(row.username), row.default_workspace_id};
    return out;
}

session of(schemas::session row) {
    return {row.id, row.user_id, std::move(row.name), row.time_ends, row.time_created};
}

service_account account_of(schemas::user row) {
    service_account out;
    out.id = row.id;
    out.org_id = row.org_id;
    out.email = std::move(row.email);
    out.username = std::move(row.username);
    out.description = std::move(row.description);
    out.associated_workspace_id = row.associated_workspace_id;
    out.time_created = row.time_created;
    return out;
}

workspace of(schemas::workspace row) {
    workspace out;
    out.id = row.id;
    if (row.org_id) {
        out.org_id = row.org_id;
        out.org_name = std::move(row.name);
    } else {
        out.owner = row.owner;
        out.username = std::move(row.name);
    }
    return out;
}

organization_workspace with_permissions(schemas::workspace row) {
    return {row.id,
            row.org_id,
            std::move(row.name),
            std::move(row.permissions),
            std::move(row.description),
            std::move(row.name_space),
            row.built_in,
            row.time_created,
            row.time_updated};
}

audit_entry of(audit_row row) {
    std::string outcome =
        row.code == 0 ? "OK" : std::string(runtime::name_of(static_cast<error_code>(row.code)));
    return {std::move(row), std::move(outcome)};
}

webhook of(schemas::webhook row, std::string secret) {
    webhook out;
    out.id = row.id;
    out.workspace_id = row.workspace_id;
    out.settings = std::move(row.settings);
    out.status = row.status;
    out.status_reason = std::move(row.status_reason);
    out.time_created = row.time_created;
    out.time_updated = row.time_updated;
    out.mutual_secret = std::move(secret);
    object_writer headers;
    for (const webhook_header& each : row.headers) headers.text(each.name, "");
    out.headers.text = headers.finish();
    return out;
}

external_event of(schemas::external_event row) {
    return {std::move(row.id), std::move(row.event_uuid), row.workspace_id, row.time_ms, row.audience};
}

test_result of(const schemas::attempt& made) {
    test_result out;
    out.status_code = made.status;
    out.attempt = {made.address,       made.dns_us,   made.connect_us, made.tls_us,
                   made.first_byte_us, made.total_us, made.error};
    const delivery_words words = words_about(made.error, made.status);
    out.hint = words.sentence + " " + words.advice;
    return out;
}

}  // namespace herald::schemas::answers
