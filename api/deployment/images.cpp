// The image of a build, as a scanner fetches it (wire.md §4).
#include "api/calls/rows.hpp"
#include "api/deployment/routes.hpp"
#include "api/deployment/services.hpp"
#include "api/serving/images/image_tar.hpp"
#include "runtime/crypto.hpp"
#include "schemas/answers/deployment.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/artifacts.hpp"

namespace herald::api::deployment {
namespace {

using namespace calls::rows;
using runtime::http::http_response;
namespace access = storage::registry::access;
namespace find = storage::registry::find;
namespace images = serving::images;

/// Keeps its place among the downloads until it has ended.
class placed_image final : public runtime::http::body_stream {
  public:
    placed_image(std::shared_ptr<body_stream> stream, calls::transfer_places::place place)
        : x_place(std::move(place)), x_stream(std::move(stream)) {}
    boost::asio::awaitable<result<std::string_view>> next() override { return x_stream->next(); }

  private:
    const calls::transfer_places::place x_place;
    const std::shared_ptr<body_stream> x_stream;
};

/// The digest of the image that Herald made of it. Errors: failed_precondition if it has none.
result<std::string> digest_of_image(const schemas::build& build) {
    const std::string name = "build " + std::to_string(build.id.value);
    if (build.status == schemas::build_status::building)
        return runtime::failed_precondition(
            {name, " is still being built; its image will be there when it is finished"});
    if (build.status == schemas::build_status::error)
        return runtime::failed_precondition({name, " has no image, because it failed: ", build.message});
    if (build.image_digest.empty())
        return runtime::failed_precondition(
            {"the image of ", name, " is not kept in Herald; it is at ", build.location});
    return build.image_digest;
}

/// A location names an image; it must be this one.
result<void> check_digest_asked(const reading_call& call, const std::string& digest) {
    const auto asked = call.find_query("digest");
    const std::string right = "sha256:" + runtime::to_hex(digest);
    if (!asked || *asked == right) return {};
    return runtime::invalid_argument({"digest is \"", *asked, "\"; the image has ", right});
}

answered get_image(reading_call& call) {
    const auto id = call.path_id<schemas::build_id>("build");
    if (!id) return id.error();
    const auto build =
        access::readable_build_in_path(call.state(), call.user().id, call.path("workspace"), *id);
    if (!build) return build.error();
    auto digest = digest_of_image(build->row);
    if (!digest) return digest.error();
    if (const auto good = check_digest_asked(call, *digest); !good) return good.error();
    auto parts = find::model_of_build(call.state(), build->row);
    if (!parts) return parts.error();
    images::image_content content;
    content.build = build->row.id;
    content.version = build->row.model_version_id;
    for (schemas::blob& part : *parts)
        content.model.push_back({std::move(part.object), std::move(part.digest), part.bytes});
    http_response out = call.answer(std::string());
    out.content_type = "application/octet-stream";
    out.headers.push_back({"etag", "\"" + runtime::to_hex(*digest) + "\""});
    out.stream_bytes = images::image_bytes(content);
    calls::transfer_places::place place;
    if (call.received().method != runtime::http::http_method::head) {
        auto taken = call.of<services>().transfers.downloads.take(call.user().id, "image");
        if (!taken) return taken.error();
        place = *std::move(taken);
    }
    out.stream = std::make_shared<placed_image>(
        images::image_tar(call.of<services>().artifacts, std::move(content), *std::move(digest)),
        std::move(place));
    return out;
}

constexpr calls::query_parameter which[] = {
    {"digest", "sha256:<64 hex digits>, as in the build's location; any other is refused", false, false}};

constexpr calls::route with_image(calls::route row) {
    row.answer = nullptr;
    row.answers_with_bytes = true;
    return row;
}

const calls::route image_table[] = {
    with_image(read<schemas::answers::build>(
        "get_build_image", "/api/v1/deployment/workspace/{workspace}/builds/{build}/image", get_image,
        "builds", "The image that Herald made: a tar archive in docker's form, for scanners", which)),
};

}  // namespace

std::span<const calls::route> image_routes() { return image_table; }

}  // namespace herald::api::deployment
