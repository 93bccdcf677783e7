// The flat table of routes (wire.md). One row per method and path; several paths may lead to one handler.
#include "api/routes/routes.hpp"

#include "api/deployment/handlers.hpp"
#include "api/identity/handlers.hpp"
#include "api/operations/handlers.hpp"
#include "api/registry/handlers.hpp"
#include "api/webhooks/handlers.hpp"
#include "schemas/answers/deployment.hpp"
#include "schemas/answers/identity.hpp"
#include "schemas/answers/models.hpp"
#include "schemas/answers/operations.hpp"
#include "schemas/answers/stages.hpp"
#include "schemas/answers/versions.hpp"
#include "schemas/answers/webhooks.hpp"
#include "schemas/find.hpp"
#include "schemas/requests/deployment.hpp"
#include "schemas/requests/identity.hpp"
#include "schemas/requests/models.hpp"
#include "schemas/requests/operations.hpp"
#include "schemas/requests/stages.hpp"
#include "schemas/requests/versions.hpp"
#include "schemas/requests/webhooks.hpp"

namespace herald::api::routes {
namespace {

using calls::needed_state;
using calls::query_parameter;
using calls::read_handler;
using calls::route;
using calls::route_handler;
using runtime::http::http_method;
using namespace identity;
using namespace registry;
using namespace deployment;
using namespace webhooks;
using namespace operations;
namespace answers = schemas::answers;
namespace requests = schemas::requests;

/// A GET that anybody may make.
constexpr route open(std::string_view name, std::string_view pattern, calls::public_handler handler,
                     schemas::schema_maker answer, std::string_view summary) {
    route row;
    row.name = name;
    row.pattern = pattern;
    row.open = handler;
    row.who = calls::authentication::nobody;
    row.tag = "operations";
    row.summary = summary;
    row.answer = answer;
    return row;
}

/// A GET answered from the state at hand.
template <answers::answer Answer>
constexpr route read(std::string_view name, std::string_view pattern, read_handler handler,
                     std::string_view tag, std::string_view summary,
                     std::span<const query_parameter> query = {}) {
    route row;
    row.name = name;
    row.pattern = pattern;
    row.read = handler;
    row.tag = tag;
    row.summary = summary;
    row.query = query;
    row.answer = schemas::answer_schema<Answer>;
    return row;
}

/// A GET that goes through many rows.
template <answers::answer Answer>
constexpr route list(std::string_view name, std::string_view pattern, read_handler handler,
                     std::string_view tag, std::string_view summary,
                     std::span<const query_parameter> query = {}) {
    route row = read<Answer>(name, pattern, handler, tag, summary, query);
    row.cost = calls::cost::long_read;
    return row;
}

/// A POST that only reads, through many rows.
template <schemas::described Body, answers::answer Answer>
constexpr route find(std::string_view name, std::string_view pattern, read_handler handler,
                     std::string_view tag, std::string_view summary) {
    route row = list<Answer>(name, pattern, handler, tag, summary);
    row.method = http_method::post;
    row.body = schemas::request_schema<Body>;
    row.needs_body = !requests::required_of<Body>().empty();
    return row;
}

template <schemas::described Body, answers::answer Answer>
constexpr route write(std::string_view name, http_method method, std::string_view pattern,
                      route_handler handler, std::string_view tag, std::string_view summary) {
    route row;
    row.name = name;
    row.method = method;
    row.pattern = pattern;
    row.handler = handler;
    row.state = needed_state::applied;
    row.tag = tag;
    row.summary = summary;
    row.body = schemas::request_schema<Body>;
    row.needs_body = !requests::required_of<Body>().empty();
    row.answer = schemas::answer_schema<Answer>;
    return row;
}

/// A POST that acts on the contents of the state.
template <schemas::described Body, answers::answer Answer>
constexpr route act(std::string_view name, std::string_view pattern, route_handler handler,
                    std::string_view tag, std::string_view summary) {
    route row = write<Body, Answer>(name, http_method::post, pattern, handler, tag, summary);
    row.state = needed_state::newest;
    return row;
}

constexpr route for_system_administrators(route row) {
    row.who = calls::authentication::system_administrator;
    return row;
}

constexpr auto model = schemas::protected_type::registered_model;
constexpr auto endpoint = schemas::protected_type::endpoint;
using schemas::action;

constexpr route needing(schemas::protected_type on, schemas::action what, route row) {
    row.right = {on, what};
    return row;
}

constexpr query_parameter by_email[]{{"email", "the user's e-mail"}};
constexpr query_parameter by_id[]{{"id", "the workspace's id", true}};
constexpr query_parameter by_name[]{{"name", "the workspace's name"}};
constexpr query_parameter by_org_name[]{{"org_name", "a workspace's name"}};
constexpr query_parameter by_version[]{{"model_version_id", "the version's id", true}};

constexpr auto post = http_method::post;
constexpr auto put = http_method::put;

#define REGISTRY "/api/v1/registry"
#define PROXY "/api/v1/uac-proxy"
#define PROXY_V2 "/api/v2/uac-proxy"
#define DEPLOYMENT "/api/v1/deployment"

constexpr route metrics =
    open("get_metrics", "/metrics", get_metrics, nullptr, "Metrics, in the text format of Prometheus");
constexpr route health = open("get_health", "/healthz", get_health, schemas::answer_schema<answers::health>,
                              "Whether the process lives");
constexpr route ready = [] {
    route row = open("get_readiness", "/readyz", get_readiness, schemas::answer_schema<answers::readiness>,
                     "Whether it serves, and if not, why");
    row.may_be_503 = true;
    return row;
}();

const route operator_table[] = {metrics, health, ready};

const route table[] = {
    metrics,  // the first row: some nodes omit it
    health,
    ready,
    open("get_openapi", "/api/openapi.json", get_openapi, schemas::answer_schema<answers::openapi>,
         "This document"),

    read<answers::connection>("verify_connection", "/api/v1/modeldb/project/verifyConnection",
                              verify_connection, "users", "Checks e-mail and key"),
    read<answers::user>("get_current_user", PROXY "/uac/getCurrentUser", get_current_user, "users",
                        "The caller"),
    read<answers::user>("get_user", PROXY "/uac/getUser", get_user, "users", "A user by e-mail", by_email),
    for_system_administrators(write<requests::create_user, answers::user_info>(
        "create_user", post, PROXY "/uac/createUser", create_user, "users",
        "Creates a user; the only answer that shows the key")),

    read<answers::workspace>("get_workspace_by_id", PROXY "/workspace/getWorkspaceById", get_workspace_by_id,
                             "workspaces", "A workspace by id", by_id),
    read<answers::workspace>("get_workspace_by_name", PROXY "/workspace/getWorkspaceByName",
                             get_workspace_by_name, "workspaces", "A workspace by name", by_name),
    list<answers::workspaces>("get_visible_workspaces", PROXY "/workspace/getVisibleWorkspaces",
                              get_visible_workspaces, "workspaces", "What the caller sees"),

    read<answers::organization_answer>(
        "get_organization_by_name", PROXY "/organization/getOrganizationByName", get_organization_by_name,
        "organizations", "Whether the name is of a shared workspace", by_org_name),
    read<answers::organizations>("list_organizations", PROXY_V2 "/organization", list_organizations,
                                 "organizations", "The caller's organizations"),
    read<answers::groups>("list_groups", PROXY_V2 "/organization/{org}/groups", list_groups, "organizations",
                          "All groups"),
    read<answers::roles>("list_roles", PROXY_V2 "/organization/{org}/roles", list_roles, "organizations",
                         "All roles"),
    write<requests::add_group_users, answers::group_answer>(
        "add_group_users", post, PROXY_V2 "/organization/{org}/groups/{group}/users", add_group_users,
        "organizations", "Adds users to a group"),

    needing(model, action::create,
            write<requests::create_model, answers::registered_model>(
                "create_model", post, REGISTRY "/workspaces/{workspace}/registered_models", create_model,
                "models", "Creates a registered model")),
    needing(model, action::read,
            read<answers::registered_model>("get_model_by_name",
                                            REGISTRY "/workspaces/{workspace}/registered_models/{model}",
                                            get_model_by_name, "models", "A model by name")),
    needing(model, action::read,
            read<answers::registered_model>("get_model", REGISTRY "/registered_models/{model_id}", get_model,
                                            "models", "A model by id")),
    find<schemas::find_request, answers::registered_models>(
        "find_models_of_workspace", REGISTRY "/workspaces/{workspace}/registered_models/find", find_models,
        "models", "Finds models of a workspace"),
    find<schemas::find_request, answers::registered_models>(
        "find_all_models", REGISTRY "/registered_models/find", find_models, "models",
        "Finds models that the caller may read"),

    needing(model, action::create,
            write<requests::create_version, answers::model_version>(
                "create_version", post, REGISTRY "/registered_models/{model_id}/model_versions",
                create_version, "versions", "Creates a version")),
    needing(model, action::create,
            write<requests::create_version, answers::model_version>(
                "create_version_by_names", post,
                REGISTRY "/workspaces/{workspace}/registered_models/{model}/model_versions", create_version,
                "versions", "Creates a version")),
    needing(model, action::read,
            read<answers::model_version>("get_version", REGISTRY "/model_versions/{version}", get_version,
                                         "versions", "A version by id")),
    needing(model, action::read,
            read<answers::model_version>("get_version_of_model",
                                         REGISTRY "/registered_models/{model_id}/model_versions/{version}",
                                         get_version, "versions", "A version by id")),
    needing(model, action::read,
            read<answers::model_version>(
                "get_version_by_names",
                REGISTRY "/workspaces/{workspace}/registered_models/{model}/model_versions/{version_or_name}",
                get_version, "versions", "A version by names")),
    find<schemas::find_request, answers::model_versions>(
        "find_versions_of_model", REGISTRY "/registered_models/{model_id}/model_versions/find", find_versions,
        "versions", "Finds versions of a model"),
    find<schemas::find_request, answers::model_versions>(
        "find_versions_by_names",
        REGISTRY "/workspaces/{workspace}/registered_models/{model}/model_versions/find", find_versions,
        "versions", "Finds versions of a model"),
    find<schemas::find_request, answers::model_versions>(
        "find_versions_of_workspace", REGISTRY "/workspaces/{workspace}/model_versions/find", find_versions,
        "versions", "Finds versions of a workspace"),
    find<schemas::find_request, answers::model_versions>("find_all_versions", REGISTRY "/model_versions/find",
                                                         find_versions, "versions",
                                                         "Finds versions that the caller may read"),
    needing(model, action::update,
            write<requests::update_version, answers::model_version>(
                "patch_version", http_method::patch,
                REGISTRY "/registered_models/{model_id}/model_versions/{version}", patch_version, "versions",
                "Changes the fields in the body; completes a promotion by redirect_metadata")),
    needing(model, action::update,
            write<requests::update_version, answers::model_version>(
                "put_version", put, REGISTRY "/registered_models/{model_id}/model_versions/{version}",
                put_version, "versions", "Replaces the record; completes a promotion by redirect_metadata")),

    needing(model, action::update,
            write<requests::update_version, answers::model_version>(
                "patch_version_by_names", http_method::patch,
                REGISTRY "/workspaces/{workspace}/registered_models/{model}/model_versions/{version_or_name}",
                patch_version, "versions",
                "Changes the fields in the body; completes a promotion by redirect_metadata")),
    needing(model, action::update,
            write<requests::update_version, answers::model_version>(
                "put_version_by_names", put,
                REGISTRY "/workspaces/{workspace}/registered_models/{model}/model_versions/{version_or_name}",
                put_version, "versions", "Replaces the record; completes a promotion by redirect_metadata")),

    needing(model, action::update,
            write<requests::create_transition, answers::activity_answer>(
                "create_transition", post, REGISTRY "/stage/createTransition", create_transition, "stages",
                "Asks for a stage change")),
    needing(model, action::approve_reject,
            write<requests::act_on_transition, answers::activity_answer>(
                "approve_transition", post, REGISTRY "/stage/approveTransition", approve_transition, "stages",
                "Approves; never one's own")),
    needing(model, action::approve_reject,
            write<requests::act_on_transition, answers::activity_answer>(
                "reject_transition", post, REGISTRY "/stage/rejectTransition", reject_transition, "stages",
                "Rejects; never one's own")),
    needing(model, action::update,
            write<requests::act_on_transition, answers::activity_answer>(
                "close_transition", post, REGISTRY "/stage/closeTransition", close_transition, "stages",
                "Withdraws a transition")),
    needing(model, action::update,
            write<requests::act_on_transition, answers::activity_answer>(
                "commit_transition", post, REGISTRY "/stage/commitTransition", commit_transition, "stages",
                "Changes the stage; to PRODUCTION a promotion begins and PROMOTE is sent")),
    needing(model, action::read,
            read<answers::promotion>("get_promotion", REGISTRY "/model_versions/{version}/promotion",
                                     get_promotion, "stages", "Where the promotion stands")),
    needing(model, action::update,
            write<requests::fail_promotion, answers::promotion>(
                "fail_promotion", post, REGISTRY "/model_versions/{version}/promotion/fail", fail_promotion,
                "stages", "Ends a promotion as failed")),

    needing(endpoint, action::deploy,
            write<requests::create_build, answers::build>("create_build", post,
                                                          DEPLOYMENT "/workspace/{workspace}/builds",
                                                          create_build, "builds", "Registers a build")),
    needing(endpoint, action::read,
            read<answers::build>("get_build", DEPLOYMENT "/workspace/{workspace}/builds/{build}", get_build,
                                 "builds", "A build")),
    needing(model, action::read,
            list<answers::builds>("list_builds", DEPLOYMENT "/builds", list_builds, "builds",
                                  "Builds of a version, newest first", by_version)),

    needing(endpoint, action::deploy,
            write<requests::request_scan, answers::scan>(
                "request_scan", post, DEPLOYMENT "/workspace/{workspace}/builds/{build}/scan", request_scan,
                "scans", "Requests a scan: REQUEST_SCAN is sent")),
    needing(endpoint, action::deploy,
            write<requests::request_scan, answers::scan>(
                "request_version_scan", post, REGISTRY "/model_versions/{version}/requestScan",
                request_version_scan, "scans", "Requests a scan of the version's newest finished build")),
    needing(endpoint, action::deploy,
            write<requests::report_scan, answers::scan>(
                "report_scan", put, DEPLOYMENT "/workspace/{workspace}/builds/{build}/scan", report_scan,
                "scans", "Reports a scan's result")),
    needing(endpoint, action::read,
            read<answers::scan>("get_scan", DEPLOYMENT "/builds/{build}/scan", get_scan, "scans",
                                "The newest scan and its history")),

    for_system_administrators(write<requests::create_webhook, answers::webhook>(
        "create_webhook", post, PROXY "/events/createWebhook", create_webhook, "webhooks",
        "Creates a webhook; use a mutual_secret of the form whsec_<base64>")),
    find<requests::find_webhooks, answers::webhooks>("find_webhooks", PROXY "/events/findWebhook",
                                                     find_webhooks, "webhooks",
                                                     "Finds webhooks; secrets are never shown"),
    for_system_administrators(write<requests::delete_webhooks, answers::done>(
        "delete_webhooks", http_method::delete_, PROXY "/events/deleteWebhook", delete_webhooks, "webhooks",
        "Deletes webhooks: all or none")),
    act<requests::trigger_test, answers::test_result>("trigger_test", PROXY "/events/triggerTest",
                                                      trigger_test, "webhooks",
                                                      "Sends a test and tells what was answered"),

    read<answers::feature_flags>("list_feature_flags", PROXY "/feature-flags", list_feature_flags,
                                 "feature flags", "All flags"),
    for_system_administrators(write<requests::set_feature_flag, answers::feature_flag>(
        "set_feature_flag", put, PROXY "/feature-flags/{name}", set_feature_flag, "feature flags",
        "Switches a flag")),
};

#undef REGISTRY
#undef PROXY
#undef PROXY_V2
#undef DEPLOYMENT

}  // namespace

std::span<const route> all_routes(metrics_here metrics_too) {
    return std::span(table).subspan(metrics_too == metrics_here::yes ? 0 : 1);
}
std::span<const route> operator_routes() { return operator_table; }

}  // namespace herald::api::routes
