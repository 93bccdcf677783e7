// The files that make an image of a version, as an archive for docker build (client_calls.md §6).
#include "api/calls/rows.hpp"
#include "api/deployment/docker_files.hpp"
#include "api/deployment/gzip_tar.hpp"
#include "api/deployment/routes.hpp"
#include "api/deployment/services.hpp"
#include "schemas/requests/endpoints.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/artifacts.hpp"

namespace herald::api::deployment {
namespace {

using namespace calls::rows;
using runtime::http::http_response;
namespace access = storage::registry::access;
namespace find = storage::registry::find;

/// The one error that is not JSON: the client shows its text.
http_response missing_artifact(const writing_call& call, std::string_view key) {
    http_response out = call.answer("missing artifact " + std::string(key));
    out.status = 404;
    out.content_type = "text/plain; charset=utf-8";
    return out;
}

/// Where its bytes are in this state; empty before any were uploaded.
std::optional<archived_file> file_of(const writing_call& call, const schemas::model_version& version,
                                     const schemas::artifact& artifact) {
    auto parts = find::bytes_of_artifact(call.state(), version, artifact.key);
    if (!parts) return std::nullopt;
    archived_file file{file_of_artifact(artifact), {}, {}};
    for (schemas::blob& part : *parts)
        file.objects.push_back({std::move(part.object), std::move(part.digest), part.bytes});
    return file;
}

response make_docker_context(writing_call& call) {
    const auto body = call.body<requests::docker_context>();
    if (!body) co_return body.error();
    if (!body->run_id.empty()) co_return runtime::not_found({"experiment run ", body->run_id, " not found"});
    if (!body->model_version_id)
        co_return runtime::invalid_argument("model_version_id is missing; it must be the id of a version");
    const auto found = access::readable_version(call.state(), call.user().id, body->model_version_id);
    if (!found) co_return runtime::not_found("Couldn't find modelVersion");
    const schemas::model_version& version = found->row;
    auto files = docker_files(version);
    if (!files) co_return files.error();
    if (!version.model || version.model->key.empty()) co_return missing_artifact(call, "model");
    std::vector<schemas::artifact> artifacts = version.artifacts;
    artifacts.insert(artifacts.begin(), *version.model);
    for (const schemas::artifact& each : artifacts) {
        if (each.path_only) continue;
        auto file = file_of(call, version, each);
        if (!file) co_return missing_artifact(call, each.key);
        files->push_back(*std::move(file));
    }
    auto place = call.of<services>().transfers.downloads.take(call.user().id, "docker context");
    if (!place) co_return place.error();
    http_response out = call.answer(std::string());
    out.content_type = "application/octet-stream";
    out.stream = gzip_tar(call.of<services>().artifacts, *std::move(files), *std::move(place));
    co_return out;
}

/// The answer is not JSON.
constexpr calls::route with_bytes(calls::route row) {
    row.answer = nullptr;
    row.answers_with_bytes = true;
    row.may_be_404_in_text = true;
    return with_body<requests::docker_context>(on_newest_state(row));
}

const calls::route docker_context_table[] = {
    needing(on_models, action::read,
            with_bytes(change<schemas::answers::done>(
                "make_docker_context", http_method::post, "/api/v1/deployment/builds/dockercontext",
                make_docker_context, "builds",
                "A gzip tar with a Dockerfile, the files of the version, and its environment"))),
};

}  // namespace

std::span<const calls::route> docker_context_routes() { return docker_context_table; }

}  // namespace herald::api::deployment
