// Endpoints: a path at which predictions are asked for (wire.md §5).
#include "storage/registry/rules/endpoints.hpp"

#include <algorithm>

#include "runtime/random.hpp"
#include "runtime/text.hpp"
#include "schemas/json.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/endpoints.hpp"
#include "storage/registry/emission/resource_events.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/tables/endpoints.hpp"

namespace herald::storage::registry::rules {
namespace {

using schemas::endpoint;
using schemas::endpoint_stage;
using schemas::resource_type;

bool is_path_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '~' || c == '-';
}

error wrong_path(std::string_view path, std::string_view why) {
    return runtime::invalid_argument(
        {"path is \"", path.substr(0, limits::endpoint_path_bytes_max), "\", ", why,
         "; it must be segments of letters, digits and _ . ~ - with a slash between them, as /team/churn"});
}

/// Of a segment between slashes. Empty: it is good.
std::string_view wrong_of_segment(std::string_view segment) {
    if (segment.empty()) return "with nothing between two slashes or behind the last one";
    if (segment == "." || segment == "..") return "with a segment . or ..";
    if (!std::ranges::all_of(segment, is_path_character)) return "with a character that no path has";
    return {};
}

/// Errors: already_exists for a path that another endpoint has, in whatever workspace, and for one whose name
/// in the v2 protocol is another's.
result<void> check_is_free(const state::state_view& state, const std::string& path) {
    if (tables::endpoints::at_path(state, path))
        return runtime::already_exists({"the path ", path, " is already in use by another endpoint"});
    if (const auto same = tables::endpoints::with_v2_name(state, tables::v2_name_of(path)))
        return runtime::already_exists({"the path ", path, " is already in use in the v2 protocol: there ",
                                        "another endpoint has its name ", tables::v2_name_of(path)});
    return {};
}

/// Errors: invalid_argument, naming the description when that is what is too long.
result<void> check_request(const schemas::json_text& request) {
    if (const auto good = check_object("the request", request); !good) return good;
    const auto body = schemas::parse_json(request.text);
    const schemas::json_value* const description = body ? body->find("description") : nullptr;
    if (const auto* const text = description ? description->get_if<std::string>() : nullptr)
        if (const auto good = check_text("description", *text, limits::description_bytes_max); !good)
            return good;
    return check_text("the request", request.text, limits::endpoint_request_bytes_max);
}

}  // namespace

result<std::string> normalised_path(std::string_view sent) {
    std::string_view rest = sent;
    while (rest.starts_with('/')) rest.remove_prefix(1);
    if (!runtime::is_valid_utf8(sent)) return runtime::invalid_argument("path is not UTF-8 text");
    if (rest.size() + 1 > limits::endpoint_path_bytes_max)
        return runtime::invalid_argument({"path is ", rest.size() + 1,
                                          " bytes long with its slash; it must be at most ",
                                          limits::endpoint_path_bytes_max});
    if (rest.empty()) return wrong_path(sent, "without a segment");
    for (std::string_view left = rest;;) {
        const std::size_t end = std::min(left.find('/'), left.size());
        if (const std::string_view wrong = wrong_of_segment(left.substr(0, end)); !wrong.empty())
            return wrong_path(sent, wrong);
        if (end == left.size()) break;
        left.remove_prefix(end + 1);
    }
    return "/" + std::string(rest);
}

void touch_endpoint(rule_context& context, const endpoint& before) {
    endpoint after = before;
    after.time_updated = context.stamp_ms();
    tables::endpoints::update(context.state, before, after);
    emission::emit_updated(context, resource_type::endpoint, after.id, after.workspace_id, before, after);
}

/// Errors: not_found for the workspace; permission_denied; invalid_argument; already_exists for the path.
answer apply(rule_context& context, const schemas::commands::create_endpoint& command) {
    state::state_changes& state = context.state;
    const std::string what = "workspace \"" + command.workspace_name + "\"";
    const auto workspace = access::workspace_in_path(state, command.workspace_name);
    if (!workspace) return runtime::not_found({what, " not found"});
    if (const auto may = access::require_in(state, context.principal(), *workspace, protected_type::endpoint,
                                            action::create, what);
        !may)
        return may.error();
    if (const auto good = check_request(command.creator_request); !good) return good.error();
    auto path = normalised_path(command.path);
    if (!path) return path.error();
    if (const auto free = check_is_free(state, *path); !free) return free.error();
    if (command.id == schemas::uuid{} || tables::endpoints::has(state, command.id))
        return runtime::already_exists("the endpoint's id is taken; send the request again");
    endpoint made;
    made.id = command.id;
    made.path = *std::move(path);
    made.workspace_id = workspace->id;
    made.owner_id = context.principal();
    made.creator_request = command.creator_request;
    made.time_created = made.time_updated = context.stamp_ms();
    tables::endpoints::put(state, made);
    emission::emit_created(context, resource_type::endpoint, made.id, workspace->id, made);
    return schemas::encode(made);
}

/// Also of one that serves: its predictions end here. Errors: not_found; permission_denied.
answer apply(rule_context& context, const schemas::commands::delete_endpoint& command) {
    const auto found =
        access::readable_endpoint(context.state, context.principal(), command.workspace_name, command.id);
    if (!found) return found.error();
    if (const auto may =
            access::require(context.state, context.principal(), found->workspace, protected_type::endpoint,
                            action::delete_, "endpoint " + runtime::uuid_text(command.id));
        !may)
        return may.error();
    std::vector<endpoint_stage> stages;
    tables::endpoint_stages::each_of(context.state, command.id, {}, [&](schemas::endpoint_stage_id id) {
        if (auto stage = tables::endpoint_stages::find(context.state, id))
            stages.push_back(*std::move(stage));
        return true;
    });
    for (const endpoint_stage& each : stages) erase_endpoint_stage(context, each);
    emission::audiences known;
    emission::emit_deleted(context, resource_type::endpoint, command.id, found->workspace.id, found->row,
                           known);
    tables::endpoints::erase(context.state, found->row);
    return std::string();
}

runner runner_of(schemas::commands::command_type type, schemas::commands::endpoint_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
