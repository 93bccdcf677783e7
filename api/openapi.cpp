#include "api/openapi.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <stdexcept>

#include "api/calls/limits.hpp"
#include "api/calls/path_parameters.hpp"
#include "api/openapi_events.hpp"
#include "runtime/text.hpp"
#include "schemas/answers/answer.hpp"

namespace herald::api {
namespace {

using calls::query_parameter;
using calls::route;
using runtime::http::http_method;
using schemas::object_writer;

/// The names of a pattern's parameters, in order.
std::vector<std::string_view> path_parameters_of(std::string_view pattern) {
    std::vector<std::string_view> names;
    for (std::size_t open = pattern.find('{'); open != pattern.npos; open = pattern.find('{', open + 1))
        names.push_back(pattern.substr(open + 1, pattern.find('}', open) - open - 1));
    return names;
}

std::string content(std::string_view schema) {
    const std::string media = object_writer().raw("schema", schema).finish();
    return object_writer().raw("application/json", media).finish();
}

std::string parameter(std::string_view name, std::string_view place, std::string_view meaning, bool required,
                      std::string_view schema) {
    object_writer out;
    out.text("name", name).text("in", place).flag("required", required).raw("schema", schema);
    if (!meaning.empty()) out.text("description", meaning);
    return out.finish();
}

constexpr std::string_view text_schema = R"({"type":"string"})";
constexpr std::string_view number_schema = R"({"type":"integer","minimum":0})";
constexpr std::string_view page_limit_schema = R"({"type":"integer","minimum":-1})";  // -1: all rows

std::string schema_of(const query_parameter& each, schemas::schema_set& components) {
    if (each.type) return each.type(components);
    if (!each.is_number) return std::string(text_schema);
    return std::string(each.name == "page_limit" ? page_limit_schema : number_schema);
}

std::string schema_of_path_parameter(std::string_view name, schemas::schema_set& components) {
    const calls::path_parameter_type* const known = calls::type_of_path_parameter(name);
    if (!known) throw std::logic_error("nobody says what the parameter " + std::string(name) + " holds");
    return known->id ? known->id(components) : std::string(text_schema);
}

/// Parameters from the path, the query, and the headers that matter to this route.
std::string parameters_of(const route& row, schemas::schema_set& components) {
    std::vector<std::string> all;
    for (const std::string_view name : path_parameters_of(row.pattern))
        all.push_back(parameter(name, "path", "", true, schema_of_path_parameter(name, components)));
    for (const query_parameter& each : row.query)
        all.push_back(
            parameter(each.name, "query", each.meaning, each.is_required, schema_of(each, components)));
    const auto shared = [](std::string_view name) {
        return object_writer().text("$ref", "#/components/parameters/" + std::string(name)).finish();
    };
    if (row.has_body()) all.push_back(shared("prefer"));
    const auto* const write = row.as<calls::write_row>();
    if (write && write->state == storage::node::freshness::applied) all.push_back(shared("idempotency_key"));
    all.push_back(shared("request_id"));
    return schemas::json_list(all, [](const std::string& each) { return each; });
}

struct answer_header {
    std::string_view name;
    std::string_view meaning;
};
constexpr answer_header request_id{"svc-request-id",
                                   "The request's name in the log: as it was sent, or a new one"};
constexpr answer_header registry_offset{"svc-registry-offset", "The state that the answer was made from"};
constexpr answer_header registry_stale{
    "svc-registry-stale", "true: the log did not answer in time, so newer writes may be missing"};
constexpr answer_header warning{"svc-warning",
                                "Which parts of the body were ignored, and why; or that there are more rows"};
constexpr answer_header retry_after{"retry-after", "Seconds to wait before the next try"};

std::string headers_of(std::initializer_list<answer_header> headers) {
    object_writer out;
    for (const auto& [name, meaning] : headers)
        out.raw(name, object_writer().text("description", meaning).raw("schema", text_schema).finish());
    return out.finish();
}

/// The headers of a successful answer.
std::string headers_of(const route& row) {
    if (row.is<calls::open_row>()) return headers_of({request_id});
    if (row.has_body()) return headers_of({request_id, registry_offset, registry_stale, warning});
    return headers_of({request_id, registry_offset, registry_stale});
}

/// Which member of which record a parameter of path or query holds.
struct parameter_source {
    std::string_view parameter;
    std::string_view record;
    std::string_view member;
};
constexpr parameter_source sources[] = {
    {"model_id", "registered_model", "id"},
    {"model", "registered_model", "name"},
    {"version", "model_version", "id"},
    {"version_or_name", "model_version", "id"},
    {"model_version_id", "model_version", "id"},
    {"build", "build", "id"},
    {"group", "group", "id"},
    {"role", "role", "id"},
    {"workspace_id", "workspace", "id"},
    {"endpoint", "endpoint", "id"},
    {"stage", "endpoint_stage", "id"},
    {"token", "access_token", "id"},
};

/// The links from what makes a record to what can be done with it: from every POST that answers one, to every
/// operation whose parameters can be filled from that answer and the POST's own path.
class operation_links {
  public:
    explicit operation_links(std::span<const route> routes) : x_routes(routes) {}

    /// The member `links` of the row's answer; empty when there are none.
    std::string from(const route& row, schemas::schema_set& components) const {
        if (row.method != http_method::post || !row.is<calls::write_row>() || !row.answer) return {};
        const std::map<std::string, std::string> records = records_in(row, components);
        object_writer out;
        bool is_any = false;
        for (const route& target : x_routes) {
            const std::string parameters = filled(row, target, records);
            if (parameters.empty()) continue;
            is_any = true;
            out.raw(target.name,
                    object_writer().text("operationId", target.name).raw("parameters", parameters).finish());
        }
        return is_any ? out.finish() : std::string();
    }

  private:
    /// By name, where in the row's answer a record stands, as a JSON pointer: the answer is the record, or
    /// has a member of its name.
    static std::map<std::string, std::string> records_in(const route& row, schemas::schema_set& components) {
        std::map<std::string, std::string> found;
        const std::string schema = row.answer(components);
        const std::size_t begin = schema.rfind('/') + 1;
        const std::string whole = schema.substr(begin, schema.find('"', begin) - begin);
        const auto known = components.components().find(whole);
        if (known == components.components().end()) return found;
        const auto described = schemas::parse_json(known->second);
        const schemas::json_value& members = *described->find("properties");
        if (members.find("id")) found.emplace(whole, "");
        for (const auto& [name, each] : *members.get_if<schemas::json_object>())
            if (each.find("$ref")) found.emplace(name, "/" + name);
        return found;
    }

    /// The link's parameters; empty when one cannot be filled, or none is from the answer.
    static std::string filled(const route& row, const route& target,
                              const std::map<std::string, std::string>& records) {
        std::vector<std::string_view> wanted = path_parameters_of(target.pattern);
        for (const query_parameter& each : target.query)
            if (each.is_required) wanted.push_back(each.name);
        const std::vector<std::string_view> at_hand = path_parameters_of(row.pattern);
        object_writer out;
        bool uses_answer = false;
        for (const std::string_view name : wanted) {
            const auto source =
                std::find_if(std::begin(sources), std::end(sources),
                             [&](const parameter_source& each) { return each.parameter == name; });
            const auto record =
                source == std::end(sources) ? records.end() : records.find(std::string(source->record));
            if (record != records.end()) {
                out.text(name, "$response.body#" + record->second + "/" + std::string(source->member));
                uses_answer = true;
            } else if (std::find(at_hand.begin(), at_hand.end(), name) != at_hand.end()) {
                out.text(name, "$request.path." + std::string(name));
            } else {
                return {};
            }
        }
        return uses_answer ? out.finish() : std::string();
    }

    std::span<const route> x_routes;
};

struct refusal {
    int status;
    std::string_view why;
};
constexpr refusal told_refusals[] = {
    {400, "The request is wrong; the message says what, and what would be right"},
    {401, "The credentials are missing or not valid"},
    {403, "The caller may see it, but not do this"},
    {404, "It does not exist, or the caller may not see it"},
    {409, "It exists already, has changed, or the Idempotency-Key belongs to another request"},
    {412, "If-Match or If-None-Match does not hold"},
    {413, "The body is longer than this operation allows"},
    {414, "The path and the query are longer than 2048 bytes"},
    {415, "The body is compressed"},
    {416, "The range is beyond the end"},
    {429, "Too many at once; Retry-After says when to try again"},
    {500, "A fault in Herald, or a write whose outcome is unknown"},
    {503, "Not now; Retry-After says when to try again"},
    {504, "There was no answer in time, and nothing took effect"},
};

constexpr std::string_view bytes_content =
    R"({"application/octet-stream":{"schema":{"type":"string","format":"binary"}}})";

constexpr std::string_view text_content = R"({"text/plain":{"schema":{"type":"string"}}})";

bool is_streamed(const route& row) { return row.is<calls::streamed_row>(); }
bool is_download(const route& row) { return is_streamed(row) && row.method == http_method::get; }

bool may_answer(const route& row, int status) {
    if (row.is<calls::open_row>()) return status == 500 || (status == 400 && !row.query.empty());
    if (is_streamed(row) && status == 401) return false;
    if (status == 412) return is_streamed(row);
    if (status == 416) return is_download(row);
    if (status == 409) return row.is<calls::write_row>() || is_streamed(row);
    if (status == 413 && is_streamed(row)) return true;
    if (status == 415 && is_streamed(row)) return !is_download(row);
    if (status == 413 || status == 415) return row.has_body();
    return true;
}

/// Of what is named by a text alone (client_calls.md §6, the docker context).
std::string not_found_in_text(schemas::schema_set& components) {
    const std::string in_json = schemas::answer_schema<schemas::answers::failure>(components);
    return object_writer()
        .text("description", "It does not exist; for a missing artifact the answer is a text that names it")
        .raw("headers", headers_of({request_id, registry_offset}))
        .raw("content", object_writer()
                            .raw("application/json", object_writer().raw("schema", in_json).finish())
                            .raw("text/plain", object_writer().raw("schema", text_schema).finish())
                            .finish())
        .finish();
}

std::string responses_of(const route& row, const operation_links& links, schemas::schema_set& components) {
    const bool has_bytes = is_streamed(row) || row.answers_with_bytes;
    const std::string said =
        row.answer ? content(row.answer(components)) : std::string(has_bytes ? bytes_content : text_content);
    const std::string headers = headers_of(row);
    const auto with_answer = [&](std::string_view why) {
        object_writer out;
        out.text("description", why).raw("headers", headers).raw("content", said);
        return out;
    };
    object_writer out;
    object_writer success = with_answer("Success");
    if (const std::string all = links.from(row, components); !all.empty()) success.raw("links", all);
    if (!row.is_absent) out.raw("200", success.finish());
    if (is_download(row)) {
        out.raw("206", with_answer("The requested range").finish());
        out.raw("304", object_writer()
                           .text("description", "The bytes have the ETag of If-None-Match")
                           .raw("headers", headers)
                           .finish());
    }
    for (const refusal& each : told_refusals)
        if (each.status == 404 && row.may_be_404_in_text)
            out.raw("404", not_found_in_text(components));
        else if (may_answer(row, each.status))
            out.raw(std::to_string(each.status),
                    object_writer()
                        .text("$ref", "#/components/responses/" + std::to_string(each.status))
                        .finish());
    if (row.may_be_503) out.raw("503", with_answer("Not now: reason and message say why").finish());
    return out.finish();
}

/// "UPDATE or DEPLOY on ENDPOINT"
std::string text_of(const calls::needed_right& right) {
    const std::string on = " on " + std::string(name_of(right.on));
    std::string text(name_of(right.action));
    if (right.instead != schemas::action::none) {
        if (right.instead_on) text += on;
        text += " or " + std::string(name_of(right.instead));
    }
    text += right.instead_on ? " on " + std::string(name_of(*right.instead_on)) : on;
    if (right.or_reports_scans) text += ", or a role that reports scans";
    return text;
}

std::string operation(const route& row, const operation_links& links, schemas::schema_set& components) {
    object_writer out;
    std::string tag;
    runtime::append_json_string(tag, row.tag);
    out.text("operationId", row.name)
        .text("summary", row.summary)
        .raw("tags", "[" + tag + "]")
        .raw("parameters", parameters_of(row, components));
    if (!row.needs_key()) out.raw("security", "[]");
    if (row.who == calls::authentication::system_administrator)
        out.text("description", "Only for system administrators.");
    if (row.who == calls::authentication::organization_administrator)
        out.text("description", "Only for members of Admins and system administrators.");
    if (row.who == calls::authentication::webhook_administrator)
        out.text(
            "description",
            "For system administrators; with the option --webhooks-by workspace-admins also for admins of "
            "the webhook's workspace.");
    if (row.right) out.text("description", "Needs " + text_of(*row.right) + ".");
    if (is_streamed(row) && !is_download(row))
        out.raw("requestBody",
                object_writer()
                    .text("description", "At most " + std::to_string(row.body_bytes_max) + " bytes")
                    .flag("required", false)
                    .raw("content", bytes_content)
                    .finish());
    if (row.has_body())
        out.raw("requestBody",
                object_writer()
                    .text("description", "At most " + std::to_string(row.body_bytes_max) + " bytes")
                    .flag("required", row.needs_body)
                    .raw("content", content(row.body(components)))
                    .finish());
    out.raw("responses", responses_of(row, links, components));
    if (row.makes_subscriber) out.raw("callbacks", deliveries_of(components));
    return out.finish();
}

constexpr std::string_view description =
    "An answer with `svc-registry-stale: true` is made from a state that may be old, because the log did not "
    "answer in time: newer writes may be missing. 503 to a write without an "
    "Idempotency-Key "
    "says that nothing took effect; `Retry-After` says when to try again. 500 \"outcome unknown\": the write "
    "was sent and may take effect, read back first. With an Idempotency-Key a repeat is always safe.";
constexpr std::string_view security_schemes =
    R"({"email":{"type":"apiKey","in":"header","name":"Grpc-Metadata-email"},"developer_key":{"type":"apiKey","in":"header","name":"Grpc-Metadata-developer_key"},"basic":{"type":"http","scheme":"basic","description":"E-mail and developer key"}})";

std::string shared_parameters() {
    const std::string key = object_writer()
                                .text("type", "string")
                                .number("minLength", 1)
                                .number("maxLength", limits::idempotency_key_bytes_max)
                                .text("pattern", "^[!-~]+$")
                                .finish();
    return object_writer()
        .raw("idempotency_key",
             parameter("Idempotency-Key", "header",
                       "The same key of the same user for the same request within 24 hours gets the first "
                       "answer again",
                       false, key))
        .raw("prefer",
             parameter("Prefer", "header", "handling=strict refuses members that would be ignored (RFC 7240)",
                       false, text_schema))
        .raw("request_id", parameter("svc-request-id", "header",
                                     "At most 128 bytes of visible ASCII; the answer and the log repeat it",
                                     false, text_schema))
        .finish();
}

std::string shared_responses(schemas::schema_set& components) {
    const std::string body = content(schemas::answer_schema<schemas::answers::failure>(components));
    object_writer out;
    for (const refusal& each : told_refusals)
        out.raw(std::to_string(each.status),
                object_writer()
                    .text("description", each.why)
                    .raw("headers", each.status == 429 || each.status == 503
                                        ? headers_of({request_id, registry_offset, retry_after})
                                        : headers_of({request_id, registry_offset}))
                    .raw("content", body)
                    .finish());
    return out.finish();
}

/// These members, and those of another object.
std::string object_of(const std::map<std::string, std::string>& members, std::string_view others = "{}") {
    object_writer out;
    out.members_of(others);
    for (const auto& [name, text] : members) out.raw(name, text);
    return out.finish();
}

}  // namespace

std::string openapi_document(std::span<const route> routes, const calls::document_part& beside) {
    schemas::schema_set types;
    std::map<std::string_view, object_writer> paths;
    const operation_links links(routes);
    for (const route& row : routes)
        paths[row.pattern].raw(runtime::to_lower(name_of(row.method)), operation(row, links, types));
    std::map<std::string, std::string> path_items = beside.paths;
    for (auto& [pattern, operations] : paths) path_items.emplace(pattern, operations.finish());
    const std::string webhooks = webhooks_of(types);
    const std::string responses = shared_responses(types);
    return object_writer()
        .text("openapi", "3.1.0")
        .raw("info", object_writer()
                         .text("title", "Herald")
                         .text("version", HERALD_VERSION)
                         .text("description", description)
                         .finish())
        .raw("servers", R"([{"url":"/","description":"The node that this document comes from"}])")
        .raw("security", R"([{"email":[],"developer_key":[]},{"basic":[]}])")
        .raw("paths", object_of(path_items))
        .raw("webhooks", webhooks)
        .raw("components", object_writer()
                               .raw("schemas", object_of(beside.schemas, object_of(types.components())))
                               .raw("responses", object_of(beside.responses, responses))
                               .raw("parameters", shared_parameters())
                               .raw("securitySchemes", object_of(beside.security_schemes, security_schemes))
                               .finish())
        .finish();
}

}  // namespace herald::api
