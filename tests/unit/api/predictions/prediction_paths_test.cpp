// Protects the paths at which models are asked: each leads to one thing, and nothing else leads anywhere
// (wire.md §6).
#include "api/predictions/prediction_paths.hpp"

#include <gtest/gtest.h>

#include <string>

namespace herald::test {
namespace {

using namespace api::predictions;

void expect_path(std::string_view path, path_kind what, std::string_view name = "",
                 std::string_view version = "") {
    EXPECT_TRUE(is_of_predictions(path)) << path;
    const auto found = parsed_path(path);
    ASSERT_TRUE(found) << path;
    EXPECT_EQ(found->what, what) << path;
    EXPECT_EQ(found->name, name) << path;
    EXPECT_EQ(found->version, version) << path;
}

TEST(prediction_paths, of_endpoints_keep_their_slashes) {
    expect_path("/api/v1/predict/a", path_kind::json, "/a");
    expect_path("/api/v1/predict/team/churn.v2/~x-y_z", path_kind::json, "/team/churn.v2/~x-y_z");
    expect_path("/api/v1/batch-predict/a/b", path_kind::table, "/a/b");
    expect_path("/api/v1/predict/v2/models/m/infer", path_kind::json, "/v2/models/m/infer");
    // An endpoint has no such path, so these are found by nobody.
    expect_path("/api/v1/predict//a", path_kind::json, "//a");
    expect_path("/api/v1/predict/a%2Fb", path_kind::json, "/a%2Fb");
}

TEST(prediction_paths, of_the_v2_protocol_name_a_model_and_perhaps_a_version) {
    expect_path("/v2", path_kind::server);
    expect_path("/v2/", path_kind::server);
    expect_path("/v2/health/live", path_kind::server_live);
    expect_path("/v2/health/ready", path_kind::server_ready);
    expect_path("/v2/models/m", path_kind::model, "m");
    expect_path("/v2/models/team.churn.v2", path_kind::model, "team.churn.v2");
    expect_path("/v2/models/m/ready", path_kind::model_ready, "m");
    expect_path("/v2/models/m/infer", path_kind::inference, "m");
    expect_path("/v2/models/m/versions/3", path_kind::model, "m", "3");
    expect_path("/v2/models/m/versions/3/ready", path_kind::model_ready, "m", "3");
    expect_path("/v2/models/m/versions/3/infer", path_kind::inference, "m", "3");
    expect_path("/v2/models/versions/versions/versions", path_kind::model, "versions", "versions");
    expect_path("/v2/models/infer/infer", path_kind::inference, "infer");
}

TEST(prediction_paths, that_lead_nowhere_are_still_of_predictions) {
    for (const char* const path : {"/api/v1/predict",
                                   "/api/v1/predict/",
                                   "/api/v1/batch-predict",
                                   "/api/v1/batch-predict/",
                                   "/v2/health",
                                   "/v2/health/",
                                   "/v2/health/live/",
                                   "/v2/models",
                                   "/v2/models/",
                                   "/v2/models//infer",

                                   "/v2/models/m/versions",
                                   "/v2/models/m/versions/",
                                   "/v2/models/m/versions//infer",

                                   "/v2/models/m/versions/3/infer/",
                                   "/v2/models/m/versions/3/other",
                                   "/v2/models/m/infer/3",
                                   "/v2/models/m/other",
                                   "/v2//models/m",
                                   "/v2/model/m",
                                   "/v2/repository/index"}) {
        EXPECT_TRUE(is_of_predictions(path)) << path;
        EXPECT_FALSE(parsed_path(path)) << path;
    }
}

TEST(prediction_paths, of_others_are_left_to_them) {
    for (const char* const path : {"", "/", "/api", "/api/v1/predictions/a", "/api/v1/predict-a",
                                   "/api/v1/predic", "/api/v2/predict/a", "/v2x", "/v20/models",
                                   "/v1/models/m", "/healthz", "v2", "/api/v1/registry/v2", "*"}) {
        EXPECT_FALSE(is_of_predictions(path)) << path;
        EXPECT_FALSE(parsed_path(path)) << path;
    }
}

TEST(prediction_paths, are_posted_where_a_model_is_asked) {
    for (const path_kind what : {path_kind::json, path_kind::table, path_kind::inference})
        EXPECT_TRUE(is_posted(what));
    for (const path_kind what : {path_kind::server, path_kind::server_live, path_kind::server_ready,
                                 path_kind::model, path_kind::model_ready})
        EXPECT_FALSE(is_posted(what));
    EXPECT_FALSE(is_of_v2(path_kind::json));
    EXPECT_FALSE(is_of_v2(path_kind::table));
    EXPECT_TRUE(is_of_v2(path_kind::server));
    EXPECT_TRUE(is_of_v2(path_kind::inference));
}

TEST(prediction_paths, mean_the_same_when_they_are_percent_encoded) {
    for (const char* const path : {"/api/v1/predict/team%2Fchurn", "/api/v1/predict/team/%63hurn"}) {
        const sent_path sent(path);
        ASSERT_TRUE(sent.what()) << path;
        EXPECT_EQ(sent.parsed(path).name, "/team/churn") << path;
    }
    for (const char* const path : {"/api/v1/predict/a%2", "/api/v1/predict/%zz", "/api/v1/predict/%FF"}) {
        const sent_path sent(path);
        EXPECT_FALSE(sent.is_well_encoded()) << path;
        EXPECT_FALSE(sent.what()) << path;
    }
}

TEST(prediction_paths, are_still_known_when_their_text_is_elsewhere_in_memory) {
    for (const char* const path :
         {"/v2/models/team.churn/versions/3/infer", "/v2/models/team%2Echurn/versions/3/infer"}) {
        std::string first = path;
        const sent_path sent(first);
        first.assign(first.size(), '!');
        ASSERT_TRUE(sent.what()) << path;
        EXPECT_EQ(sent.parsed(path).what, path_kind::inference) << path;
        EXPECT_EQ(sent.parsed(path).name, "team.churn") << path;
        EXPECT_EQ(sent.parsed(path).version, "3") << path;
    }
}

}  // namespace
}  // namespace herald::test
