// Protects what a scanner fetches: exactly the image that was built, for who may read the build.
#include "api/serving/images/image_tar.hpp"

#include <boost/asio/co_spawn.hpp>
#include <future>

#include "runtime/crypto.hpp"
#include "storage/registry/emission/report_paths.hpp"
#include "storage/registry/tables/builds.hpp"
#include "tests/unit/api/handlers.hpp"

namespace herald::test {
namespace {

namespace images = api::serving::images;
using schemas::build_status;
using testing::HasSubstr;

const std::string model_bytes = "the bytes of a model";

/// The digest of the image with these bytes, by the archive as it is read.
std::string built_digest() {
    memory_artifacts store;
    images::image_content content;
    content.build.value = 901;
    content.version.value = 1;
    const std::string digest(runtime::as_bytes(runtime::sha256(model_bytes)));
    content.model.push_back({"object", digest, model_bytes.size()});
    store.objects["object"] = model_bytes;
    runtime::event_loops loops{{.loops = 1, .cores = {}, .blocking_threads = 1}};
    std::promise<result<std::string>> came;
    const auto take = [&](std::exception_ptr, result<std::string> out) { came.set_value(std::move(out)); };
    boost::asio::co_spawn(loops[0].context(), images::image_digest(store, content), take);
    return *came.get_future().get();
}

class build_images : public testing::Test {
  protected:
    build_images() {
        const std::string version = node.version(node.model("m"), "v");
        EXPECT_EQ(version, "1");
        const std::string path = "/api/v1/registry/registered_models/1/model_versions/1";
        EXPECT_EQ(
            node.ask(&node.administrator, "PATCH", path, R"({"model":{"key":"model","path":"m"}})").status(),
            200);
        upload(model_bytes);
    }
    void upload(const std::string& bytes) {
        const reply url = node.post("/api/v1/registry/model_versions/1/getUrlForArtifact",
                                    R"({"key":"model","method":"PUT"})");
        const std::string target = url.at("url").substr(std::string("http://herald").size());
        EXPECT_EQ(node.ask(nullptr, "PUT", target, bytes).status(), 200);
    }
    /// As builds are once apply has them.
    static void add_builds(storage::registry::state::state_changes& state) {
        const auto add = [&](std::uint64_t id, build_status status, const std::string& location,
                             const std::string& message) {
            schemas::build row;
            row.id.value = id;
            row.workspace_id.value = 1;
            row.model_version_id.value = 1;
            row.status = status;
            row.location = location;
            if (location.starts_with("http://herald/")) {
                row.image_digest = built_digest();
                row.model_parts = {
                    {std::string(runtime::as_bytes(runtime::sha256(model_bytes))), model_bytes.size()}};
            }
            row.message = message;
            storage::registry::tables::builds::put(state, row);
        };
        add(901, build_status::finished,
            "http://herald" + storage::registry::emission::path_of_image("Default", {901}, built_digest()),
            "");
        add(902, build_status::building, "", "");
        add(903, build_status::error, "", "the model is damaged");
        add(904, build_status::finished, "registry.example.org/m:1", "");
    }
    static std::string image_of(int build) {
        return deployment + "/workspace/Default/builds/" + std::to_string(build) + "/image";
    }

    node_without_sockets node{storage::node::node_kind::standalone, api::routes::all_routes(), add_builds};
};

TEST_F(build_images, are_the_bytes_whose_digest_the_location_has) {
    const reply image = node.get(image_of(901));
    ASSERT_EQ(image.status(), 200) << image.body();
    EXPECT_EQ(runtime::as_bytes(runtime::sha256(image.body())), built_digest());
    EXPECT_THAT(image.body(), HasSubstr(model_bytes));
    EXPECT_EQ(image.header("etag"), "\"" + runtime::to_hex(built_digest()) + "\"");
    const std::string right = "?digest=sha256:" + runtime::to_hex(built_digest());
    EXPECT_EQ(node.get(image_of(901) + right).body(), image.body());
    EXPECT_EQ(node.ask(&node.administrator, "HEAD", image_of(901)).status(), 200);
}

TEST_F(build_images, stay_the_same_when_the_version_has_another_model) {
    const std::string before = node.get(image_of(901)).body();
    upload("other bytes of a mod");
    EXPECT_EQ(node.get(image_of(901)).body(), before);
}

TEST_F(build_images, are_refused_with_the_reason_where_there_is_none) {
    const auto failed = error_code::failed_precondition;
    handlers::expect_refused(node.get(image_of(902)), 400, failed, "still being built");
    handlers::expect_refused(node.get(image_of(903)), 400, failed, "the model is damaged");
    handlers::expect_refused(node.get(image_of(904)), 400, failed, "registry.example.org/m:1");
    handlers::expect_refused(node.get(image_of(999)), 404, error_code::not_found, "999");
    handlers::expect_refused(node.get(image_of(901) + "?digest=sha256:00"), 400, error_code::invalid_argument,
                             runtime::to_hex(built_digest()));
}

TEST_F(build_images, are_shown_to_nobody_who_may_not_read_the_build) {
    const caller stranger = node.user("stranger@example.org");
    EXPECT_EQ(node.ask(&stranger, "GET", image_of(901)).status(), 404);
    EXPECT_EQ(node.ask(nullptr, "GET", image_of(901)).status(), 401);
}

}  // namespace
}  // namespace herald::test
