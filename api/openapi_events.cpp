#include "api/openapi_events.hpp"

#include <string_view>
#include <vector>

#include "runtime/text.hpp"
#include "schemas/answers/events.hpp"
#include "schemas/delivery_headers.hpp"
#include "schemas/event_kinds.hpp"

namespace herald::api {
namespace {

using schemas::object_writer;
using schemas::schema_set;

schemas::schema_maker body_of(schemas::event_type type) {
    using namespace schemas::answers;
    switch (type) {
        case schemas::event_type::promote:
            return schemas::answer_schema<promote_event>;
        case schemas::event_type::request_scan:
            return schemas::answer_schema<request_scan_event>;
        case schemas::event_type::transition:
            return schemas::answer_schema<transition_event>;
        case schemas::event_type::webhook_health:
            return schemas::answer_schema<webhook_health_event>;
        default:
            return schemas::answer_schema<resource_event>;
    }
}

std::string_view meaning_of(schemas::event_type type) {
    switch (type) {
        case schemas::event_type::create:
            return "something was created";
        case schemas::event_type::read:
            return "something was read";
        case schemas::event_type::update:
            return "something was changed";
        case schemas::event_type::delete_:
            return "something was deleted";
        case schemas::event_type::promote:
            return "a version's stage became PRODUCTION";
        case schemas::event_type::request_scan:
            return "a build is to be scanned";
        case schemas::event_type::transition:
            return "somebody asked for a change of a version's stage, or approved, rejected, closed or "
                   "committed it";
        case schemas::event_type::webhook_health:
            return "a webhook of the workspace fails, is about to be disabled, was disabled or has recovered";
    }
    return {};
}

std::string headers_of(bool is_test) {
    using schemas::delivery_header_in;
    std::vector<std::string> all;
    for (const schemas::delivery_header_row& each : schemas::delivery_headers) {
        if (each.in == delivery_header_in::tests && !is_test) continue;
        all.push_back(object_writer()
                          .text("name", schemas::name_of(each.which, "svc-"))
                          .text("in", "header")
                          .flag("required", each.in != delivery_header_in::some)
                          .text("description", each.meaning)
                          .raw("schema", R"({"type":"string"})")
                          .finish());
    }
    return schemas::json_list(all, [](const std::string& each) { return each; });
}

std::string path_item(std::string_view operation, std::string_view summary, const std::string& headers,
                      const std::string& schema) {
    const std::string media = object_writer().raw("schema", schema).finish();
    const std::string body = object_writer()
                                 .flag("required", true)
                                 .raw("content", object_writer().raw("application/json", media).finish())
                                 .finish();
    const std::string taken = object_writer()
                                  .raw("2XX", R"({"description":"Taken: it is not sent again"})")
                                  .raw("default", R"({"description":"It is sent again later"})")
                                  .finish();
    const std::string post = object_writer()
                                 .text("operationId", "receive_" + std::string(operation))
                                 .text("summary", summary)
                                 .raw("security", "[]")
                                 .raw("parameters", headers)
                                 .raw("requestBody", body)
                                 .raw("responses", taken)
                                 .finish();
    return object_writer().raw("post", post).finish();
}

}  // namespace

std::string webhooks_of(schema_set& components) {
    object_writer out;
    const auto add = [&](std::string_view kind, std::string_view meaning, bool is_test, std::string schema) {
        const std::string summary = std::string(kind) + ": " + std::string(meaning);
        const std::string name = runtime::to_lower(kind);
        out.raw(name, path_item(name, summary, headers_of(is_test), schema));
    };
    for (const schemas::event_kind& each : schemas::event_kinds)
        add(each.name, meaning_of(each.type), false, body_of(each.type)(components));
    add("TEST", "somebody tests the webhook", true,
        schemas::answer_schema<schemas::answers::test_event>(components));
    return out.finish();
}

std::string deliveries_of(schema_set& components) {
    using namespace schemas::answers;
    const std::vector<std::string> bodies{schemas::answer_schema<promote_event>(components),
                                          schemas::answer_schema<request_scan_event>(components),
                                          schemas::answer_schema<resource_event>(components),
                                          schemas::answer_schema<transition_event>(components),
                                          schemas::answer_schema<webhook_health_event>(components),
                                          schemas::answer_schema<test_event>(components)};
    const std::string schema =
        object_writer()
            .raw("anyOf", schemas::json_list(bodies, [](const std::string& each) { return each; }))
            .finish();
    const std::string item =
        path_item("event", "An event that the webhook hears, or a test; the header svc-event-type says which",
                  headers_of(false), schema);
    const std::string place = object_writer().raw("{$request.body#/location}", item).finish();
    return object_writer().raw("delivery", place).finish();
}

}  // namespace herald::api
