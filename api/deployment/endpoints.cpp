// Endpoints (wire.md §5, spec.md §2.1).
#include "schemas/commands/endpoints.hpp"
#include "storage/registry/find/endpoints.hpp"

#include "api/calls/finding.hpp"
#include "api/calls/rows.hpp"
#include "api/calls/tell_read.hpp"
#include "api/deployment/component_messages.hpp"
#include "api/deployment/confirmations.hpp"
#include "api/deployment/endpoint_paths.hpp"
#include "api/deployment/example_input.hpp"
#include "api/deployment/limits.hpp"
#include "api/deployment/routes.hpp"
#include "runtime/text.hpp"
#include "schemas/answers/endpoint_records.hpp"
#include "schemas/limits.hpp"
#include "schemas/requests/endpoints.hpp"
#include "storage/registry/find/builds.hpp"

namespace herald::api::deployment {
namespace {

using namespace calls::rows;
using schemas::endpoint;
namespace access = storage::registry::access;
namespace find = storage::registry::find;

/// The published client looks endpoints up by the path in creator_request, and begins it with a slash.
schemas::json_text as_asked_for(schemas::json_value body, const std::string& path) {
    if (schemas::json_object* members = body.get_if<schemas::json_object>())
        for (auto& [name, value] : *members)
            if (name == "path") value = path;
    return {schemas::to_json_text(body)};
}

response create_endpoint(writing_call& call) {
    const auto json = call.json();
    if (!json) co_return json.error();
    const auto body = call.body_as<requests::create_endpoint>(*json);
    if (!body) co_return body.error();
    schemas::commands::create_endpoint command;
    command.id = call.with().random.uuid();
    command.workspace_name = call.path("workspace");
    command.path = body->path;
    command.creator_request =
        as_asked_for(*json, body->path.starts_with('/') ? body->path : "/" + body->path);
    const auto view = [&](endpoint made) { return answers::of(std::move(made), call.base_url()); };
    co_return co_await call.write<endpoint>(std::move(command), view);
}

/// Whether the caller wants a text rather than JSON: Accept names it first.
bool wants_text(const reading_call& call) {
    const std::string accept = runtime::to_lower(call.received().header("accept").value_or(""));
    const std::size_t text = accept.find("text/plain");
    return text != accept.npos && text < std::min(accept.find("application/json"), accept.find("*/*"));
}

/// For a shell: between single quotes.
std::string in_shell_quotes(std::string_view text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
    return out + "'";
}

/// A line for each component that has a message, after the lines of spec.md §2.1.
std::string messages_of(const reading_call& call, const endpoint& row) {
    std::string out;
    for (const schemas::endpoint_stage& stage : find::stages_of(call.state(), row.id))
        for (const schemas::stage_component& each : stage.components)
            if (const std::string message = message_of(call, each); !message.empty())
                out += "stage " + stage.name + ", build " + std::to_string(each.build_id.value) + ": " +
                       message + "\n";
    return out;
}

/// A body that the endpoint's model takes, as far as Herald knows the model; otherwise {}.
std::string example_of(const reading_call& call, const endpoint& row) {
    std::string example;
    for (const schemas::endpoint_stage& stage : find::stages_of(call.state(), row.id))
        for (const schemas::stage_component& each : stage.components)
            if (example.empty() && each.ratio_ppm > 0)
                if (const auto build = find::build_of(call.state(), each.build_id))
                    example = example_input(build->signature);
    return example.empty() ? "{}" : example;
}

runtime::http::http_response printed(const reading_call& call, const endpoint& row) {
    const std::string url = answers::prediction_url(row, call.base_url());
    auto out = call.answer("path: " + row.path + "\nid: " + runtime::uuid_text(row.id) +
                           "\ncurl: curl -X POST " + in_shell_quotes(url) +
                           " -H 'Access-token: <ACCESS_TOKEN>' -H 'Content-Type: application/json' -d " +
                           in_shell_quotes(example_of(call, row)) + "\n" + messages_of(call, row));
    out.content_type = "text/plain; charset=utf-8";
    return out;
}

answered get_endpoint(reading_call& call) {
    const auto found = endpoint_to_show(call);
    if (!found) return found.error();
    calls::tell_read(call, found->row);
    if (wants_text(call)) return printed(call, found->row);
    return call.answer(answers::of(found->row, call.base_url()));
}

/// The endpoints of a workspace, read one after another.
class endpoint_pieces final : public calls::answer_pieces {
  public:
    endpoint_pieces(std::shared_ptr<const storage::registry::state::state_view> view,
                    schemas::workspace_id workspace, std::string base_url, find::page_of_endpoints page)
        : x_view(std::move(view)),
          x_workspace(workspace),
          x_base_url(std::move(base_url)),
          x_page(std::move(page)),
          x_left(x_page.rows),
          x_after(x_page.after) {}

    result<std::string> next() override {
        std::string piece;
        if (x_is_over) return piece;
        if (!std::exchange(x_is_begun, true)) piece = R"({"endpoints":[)";
        const auto rows = find::endpoints_of(*x_view, x_workspace, x_after, std::min(x_left, rows_in_piece));
        for (const endpoint& row : rows) {
            if (x_left < x_page.rows) piece += ',';
            piece += answers::text_of(answers::of(row, x_base_url));
            x_after = row.id;
            --x_left;
        }
        x_is_over = rows.empty() || x_left == 0;
        if (x_is_over)
            piece += R"(],"total_records":)" + std::to_string(x_page.total_records) +
                     R"(,"next_page_token":")" + x_page.next_page_token + R"("})";
        return piece;
    }
    bool is_over() const noexcept override { return x_is_over; }

  private:
    static constexpr std::uint64_t rows_in_piece = 4;  // a row may have limits::endpoint_request_bytes_max

    const std::shared_ptr<const storage::registry::state::state_view> x_view;
    const schemas::workspace_id x_workspace;
    const std::string x_base_url;
    const find::page_of_endpoints x_page;
    std::uint64_t x_left;
    std::optional<schemas::uuid> x_after;
    bool x_is_begun = false;
    bool x_is_over = false;
};

slicing list_endpoints(reading_call& call) {
    const std::string name = call.path("workspace");
    const auto workspace = access::workspace_in_path(call.state(), name);
    if (!workspace || !access::is_visible(call.state(), call.user().id, *workspace))
        return runtime::not_found({"workspace \"", name, "\" not found"});
    const auto asked = calls::page_in_query(call);
    if (!asked) return asked.error();
    auto page = find::choose_endpoints(call.state(), call.user().id, *workspace, *asked);
    if (!page) return page.error();
    if (page->is_cut)
        call.warn("these are " + std::to_string(page->rows) + " of " + std::to_string(page->total_records) +
                  " records; ask for the rest with page_token");
    return std::make_unique<calls::pieced_answer>(
        call, std::make_unique<endpoint_pieces>(call.reading().view, workspace->id, call.base_url(),
                                                *std::move(page)));
}

response delete_endpoint(writing_call& call) {
    auto command = command_on_endpoint<schemas::commands::delete_endpoint>(call);
    if (!command) co_return command.error();
    co_return co_await withdraw(call, *std::move(command));
}

const calls::route endpoint_table[] = {
    needing(on_endpoints, action::create,
            write<requests::create_endpoint, answers::endpoint>(
                "create_endpoint", http_method::post, "/api/v1/deployment/workspace/{workspace}/endpoints",
                create_endpoint, "endpoints", "Makes an endpoint: a path for predictions")),
    needing(on_endpoints, action::read,
            list<answers::endpoints>(
                "list_endpoints", "/api/v1/deployment/workspace/{workspace}/endpoints", list_endpoints,
                "endpoints", "The endpoints of the workspace, in the order of their ids", calls::paging)),
    needing(on_endpoints, action::read,
            read<answers::endpoint>(
                "get_endpoint", "/api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}", get_endpoint,
                "endpoints", "An endpoint; with Accept: text/plain as a text with a ready command")),
    needing(on_endpoints, action::delete_,
            erase<answers::withdrawn>(
                "delete_endpoint", "/api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}",
                delete_endpoint, "endpoints",
                "Deletes the endpoint, even while it serves; names the nodes that may still serve it")),
};

}  // namespace

std::span<const calls::route> endpoint_routes() { return endpoint_table; }

}  // namespace herald::api::deployment
