// The flat table of routes (wire.md). One row a method and path; several paths may lead to one handler.
#include "api/routes/routes.hpp"

#include "api/deployment/handlers.hpp"
#include "api/identity/handlers.hpp"
#include "api/operations/handlers.hpp"
#include "api/registry/handlers.hpp"
#include "api/webhooks/handlers.hpp"

namespace herald::api::routes {
namespace {

using calls::read_handler;
using calls::route;
using calls::route_handler;
using runtime::http::http_method;
using namespace identity;
using namespace registry;
using namespace deployment;
using namespace webhooks;
using namespace operations;

constexpr route reads(std::string_view pattern, read_handler read, std::string_view tag,
                      std::string_view summary, std::string_view answer) {
    route row;
    row.pattern = pattern;
    row.read = read;
    row.tag = tag;
    row.summary = summary;
    row.response_schema = answer;
    return row;
}

/// A GET that looks through many rows.
constexpr route lists(std::string_view pattern, read_handler read, std::string_view tag,
                      std::string_view summary, std::string_view answer) {
    route row = reads(pattern, read, tag, summary, answer);
    row.scans = true;
    return row;
}

/// A POST that only looks, through many rows.
constexpr route finds(std::string_view pattern, read_handler read, std::string_view tag,
                      std::string_view summary, std::string_view body, std::string_view answer) {
    route row = lists(pattern, read, tag, summary, answer);
    row.method = http_method::post;
    row.request_schema = body;
    return row;
}

constexpr route writes(http_method method, std::string_view pattern, route_handler handler,
                       std::string_view tag, std::string_view summary, std::string_view body,
                       std::string_view answer) {
    route row;
    row.method = method;
    row.pattern = pattern;
    row.handler = handler;
    row.tag = tag;
    row.summary = summary;
    row.request_schema = body;
    row.response_schema = answer;
    return row;
}

/// A POST that acts on what the state says.
constexpr route acts(std::string_view pattern, route_handler handler, std::string_view tag,
                     std::string_view summary, std::string_view body, std::string_view answer) {
    route row = writes(http_method::post, pattern, handler, tag, summary, body, answer);
    row.asks_first = true;
    return row;
}

constexpr auto post = http_method::post;
constexpr auto put = http_method::put;

#define REGISTRY "/api/v1/registry"
#define PROXY "/api/v1/uac-proxy"
#define PROXY_V2 "/api/v2/uac-proxy"
#define DEPLOYMENT "/api/v1/deployment"

const route table[] = {
    reads("/api/v1/modeldb/project/verifyConnection", verify_connection, "users", "Checks e-mail and key",
          "status"),
    reads(PROXY "/uac/getCurrentUser", get_current_user, "users", "The caller", "user"),
    reads(PROXY "/uac/getUser", get_user, "users", "A user by ?email=", "user"),
    writes(post, PROXY "/uac/createUser", create_user, "users",
           "Creates a user; the only answer that shows the key", "create_user", "user_info"),
    reads(PROXY "/workspace/getWorkspaceById", get_workspace_by_id, "workspaces",
          "A workspace by ?id=", "workspace"),
    reads(PROXY "/workspace/getWorkspaceByName", get_workspace_by_name, "workspaces",
          "A workspace by ?name=", "workspace"),
    lists(PROXY "/workspace/getVisibleWorkspaces", get_visible_workspaces, "workspaces",
          "What the caller sees", "workspaces"),
    reads(PROXY "/organization/getOrganizationByName", get_organization_by_name, "organizations",
          "Whether ?org_name= is a shared workspace", "organization"),
    reads(PROXY_V2 "/organization", list_organizations, "organizations", "The caller's organizations",
          "organizations"),
    reads(PROXY_V2 "/organization/{org}/groups", list_groups, "organizations", "All groups", "groups"),
    reads(PROXY_V2 "/organization/{org}/roles", list_roles, "organizations", "All roles", "roles"),
    writes(post, PROXY_V2 "/organization/{org}/groups/{group}/users", add_group_users, "organizations",
           "Adds users to a group", "user_ids", "group"),

    writes(post, REGISTRY "/workspaces/{workspace}/registered_models", create_model, "models",
           "Creates a registered model", "registered_model", "registered_model"),
    reads(REGISTRY "/workspaces/{workspace}/registered_models/{model}", get_model_by_name, "models",
          "A model by name", "registered_model"),
    reads(REGISTRY "/registered_models/{model}", get_model, "models", "A model by id", "registered_model"),
    finds(REGISTRY "/workspaces/{workspace}/registered_models/find", find_models, "models",
          "Finds models of a workspace", "find_request", "registered_models"),
    finds(REGISTRY "/registered_models/find", find_models, "models", "Finds models that the caller may read",
          "find_request", "registered_models"),

    writes(post, REGISTRY "/registered_models/{model_id}/model_versions", create_version, "versions",
           "Creates a version", "model_version", "model_version"),
    writes(post, REGISTRY "/workspaces/{workspace}/registered_models/{model}/model_versions", create_version,
           "versions", "Creates a version", "model_version", "model_version"),
    reads(REGISTRY "/model_versions/{version}", get_version, "versions", "A version by id", "model_version"),
    reads(REGISTRY "/registered_models/{model_id}/model_versions/{version}", get_version, "versions",
          "A version by id", "model_version"),
    reads(REGISTRY "/workspaces/{workspace}/registered_models/{model}/model_versions/{version}",
          get_version_by_names, "versions", "A version by names", "model_version"),
    finds(REGISTRY "/registered_models/{model_id}/model_versions/find", find_versions, "versions",
          "Finds versions of a model", "find_request", "model_versions"),
    finds(REGISTRY "/workspaces/{workspace}/registered_models/{model}/model_versions/find", find_versions,
          "versions", "Finds versions of a model", "find_request", "model_versions"),
    finds(REGISTRY "/workspaces/{workspace}/model_versions/find", find_versions, "versions",
          "Finds versions of a workspace", "find_request", "model_versions"),
    finds(REGISTRY "/model_versions/find", find_versions, "versions",
          "Finds versions that the caller may read", "find_request", "model_versions"),
    writes(http_method::patch, REGISTRY "/registered_models/{model_id}/model_versions/{version}",
           patch_version, "versions",
           "Changes the fields in the body; completes a promotion by redirect_metadata", "model_version",
           "model_version"),
    writes(put, REGISTRY "/registered_models/{model_id}/model_versions/{version}", put_version, "versions",
           "Replaces the record; completes a promotion by redirect_metadata", "model_version",
           "model_version"),

    writes(post, REGISTRY "/stage/createTransition", create_transition, "stages", "Asks for a stage change",
           "create_transition", "activity"),
    writes(post, REGISTRY "/stage/approveTransition", approve_transition, "stages",
           "Approves; never one's own", "review_transition", "activity"),
    writes(post, REGISTRY "/stage/rejectTransition", reject_transition, "stages", "Rejects; never one's own",
           "review_transition", "activity"),
    writes(post, REGISTRY "/stage/closeTransition", close_transition, "stages", "Withdraws a transition",
           "close_transition", "activity"),
    writes(post, REGISTRY "/stage/commitTransition", commit_transition, "stages",
           "Changes the stage; to PRODUCTION a promotion begins and PROMOTE is sent", "commit_transition",
           "activity"),
    reads(REGISTRY "/model_versions/{version}/promotion", get_promotion, "stages",
          "Where the promotion stands", "promotion"),
    writes(post, REGISTRY "/model_versions/{version}/promotion/fail", fail_promotion, "stages",
           "Ends a promotion as failed", "fail_promotion", "promotion"),

    writes(post, DEPLOYMENT "/workspace/{workspace}/builds", create_build, "builds", "Registers a build",
           "create_build", "build"),
    reads(DEPLOYMENT "/workspace/{workspace}/builds/{build}", get_build, "builds", "A build", "build"),
    lists(DEPLOYMENT "/builds", list_builds, "builds", "Builds of ?model_version_id=, newest first",
          "builds"),
    writes(post, DEPLOYMENT "/workspace/{workspace}/builds/{build}/scan", request_scan, "scans",
           "Requests a scan: REQUEST_SCAN is sent", "request_scan", "scan"),
    writes(post, REGISTRY "/model_versions/{version}/requestScan", request_version_scan, "scans",
           "Requests a scan of the version's newest finished build", "request_scan", "scan"),
    writes(put, DEPLOYMENT "/workspace/{workspace}/builds/{build}/scan", report_scan, "scans",
           "Reports a scan's result", "report_scan", "scan"),
    reads(DEPLOYMENT "/builds/{build}/scan", get_scan, "scans", "The newest scan and its history", "scan"),

    writes(post, PROXY "/events/createWebhook", create_webhook, "webhooks",
           "Creates a webhook; use a mutual_secret of the form whsec_<base64>", "create_webhook", "webhook"),
    finds(PROXY "/events/findWebhook", find_webhooks, "webhooks", "Finds webhooks; secrets are never shown",
          "find_webhook", "webhooks"),
    writes(http_method::delete_, PROXY "/events/deleteWebhook", delete_webhooks, "webhooks",
           "Deletes webhooks: all or none", "delete_webhooks", "nothing"),
    acts(PROXY "/events/triggerTest", trigger_test, "webhooks", "Sends a test and tells what was answered",
         "trigger_test", "test_result"),

    reads(PROXY "/feature-flags", list_feature_flags, "feature flags", "All flags", "feature_flags"),
    writes(put, PROXY "/feature-flags/{name}", set_feature_flag, "feature flags", "Switches a flag",
           "feature_flag", "feature_flag"),
};

#undef REGISTRY
#undef PROXY
#undef PROXY_V2
#undef DEPLOYMENT

}  // namespace

std::span<const route> all_routes() { return table; }

}  // namespace herald::api::routes
