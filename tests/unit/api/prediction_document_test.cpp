// Protects what the OpenAPI document says of predictions: it has exactly the paths at which models are asked,
// and their requests and answers are as it describes them.
#include "api/predictions/prediction_document.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "api/openapi.hpp"
#include "api/predictions/json_dialect.hpp"
#include "api/predictions/prediction_paths.hpp"
#include "api/predictions/v2_dialect.hpp"
#include "tests/unit/api/route_world.hpp"

namespace herald::test {
namespace {

using namespace api::predictions;
using schemas::json_object;
using schemas::json_value;
using schemas::tensor_type;

class prediction_document : public testing::Test {
  protected:
    void expect_fits(std::string_view schema, std::string_view json) {
        const auto value = schemas::parse_prediction_json(json);
        ASSERT_TRUE(value) << json;
        EXPECT_EQ(
            misfit(whole, member(whole, {"components", "schemas", schema}), *value, std::string(schema)), "")
            << json;
    }
    const json_object& paths() const { return *member(whole, {"paths"}).get_if<json_object>(); }

    const json_value whole =
        *schemas::parse_json(api::openapi_document(api::routes::all_routes(), document_part()));
    const schemas::model_signature signature{{{"x", tensor_type::int32, {-1}}, {"t", tensor_type::text, {1}}},
                                             {{"y", tensor_type::float32, {-1}}}};
};

/// The path with a value in each place.
std::string filled(std::string path) {
    path = std::regex_replace(path, std::regex("\\{endpoint_path\\}"), "team/churn");
    path = std::regex_replace(path, std::regex("\\{model_name\\}"), "team.churn");
    return std::regex_replace(path, std::regex("\\{model_version\\}"), "3");
}

TEST_F(prediction_document, has_every_path_with_its_method) {
    std::set<std::pair<path_kind, bool>> seen;  // with a version or not
    for (const auto& [pattern, methods] : paths()) {
        if (!is_of_predictions(pattern)) continue;
        const std::string path = filled(pattern);
        const auto asked = parsed_path(path);
        ASSERT_TRUE(asked) << pattern;
        EXPECT_EQ(methods.get_if<json_object>()->size(), 1u) << pattern;
        EXPECT_TRUE(methods.find(is_posted(asked->what) ? "post" : "get")) << pattern;
        if (asked->what <= path_kind::table)
            EXPECT_EQ(asked->name, "/team/churn");
        else if (asked->what >= path_kind::model)
            EXPECT_EQ(asked->name, "team.churn");
        EXPECT_TRUE(seen.emplace(asked->what, !asked->version.empty()).second) << pattern;
    }
    for (auto what = path_kind::json; what <= path_kind::inference; what = path_kind(int(what) + 1)) {
        EXPECT_TRUE(seen.contains({what, false})) << int(what);
        if (what >= path_kind::model) EXPECT_TRUE(seen.contains({what, true})) << int(what);
    }
    EXPECT_EQ(seen.size(), 11u);
}

TEST_F(prediction_document, names_token_headers_and_statuses) {
    for (const auto& [pattern, methods] : paths()) {
        if (!is_of_predictions(pattern)) continue;
        const std::string path = filled(pattern);
        const path_kind what = parsed_path(path)->what;
        const json_value& operation = methods.get_if<json_object>()->front().second;
        const bool is_of_server = what >= path_kind::server && what < path_kind::model;
        EXPECT_EQ(schemas::to_json_text(member(operation, {"security"})),
                  is_of_server ? "[]" : R"([{"access_token":[]}])")
            << pattern;
        if (is_of_server) continue;
        const json_value& responses = member(operation, {"responses"});
        for (const char* const name :
             {"svc-build-id", "svc-endpoint-id", "svc-endpoint-owner-id", "svc-endpoint-owner-name",
              "svc-endpoint-path", "svc-model-name", "svc-model-version", "svc-request-id"})
            EXPECT_TRUE(member(responses, {"200", "headers"}).find(name)) << pattern << " " << name;
        for (const char* const status : {"400", "401", "403", "404", "414", "500", "503"})
            EXPECT_TRUE(responses.find(status)) << pattern << " " << status;
        for (const char* const status : {"413", "415", "429", "502", "504"})
            EXPECT_EQ(responses.find(status) != nullptr, is_posted(what)) << pattern << " " << status;
    }
}

void expect_references(const json_value& whole, const json_value& at) {
    if (const auto* items = at.get_if<schemas::json_array>())
        for (const json_value& each : *items) expect_references(whole, each);
    const auto* members = at.get_if<json_object>();
    if (!members) return;
    for (const auto& [name, each] : *members) {
        expect_references(whole, each);
        const std::string* const text = name == "$ref" ? each.get_if<std::string>() : nullptr;
        if (!text) continue;
        const std::size_t kind = text->find('/', 2) + 1, last = text->rfind('/');
        EXPECT_NO_THROW(member(whole, {"components", std::string_view(*text).substr(kind, last - kind),
                                       std::string_view(*text).substr(last + 1)}))
            << *text;
    }
}

TEST_F(prediction_document, refers_only_to_what_is_there_and_shares_no_name_with_the_routes) {
    expect_references(whole, whole);
    const json_value routes = *schemas::parse_json(api::openapi_document(api::routes::all_routes()));
    const auto part = document_part();
    for (const auto& [kind, added] :
         {std::pair{"schemas", &part.schemas}, std::pair{"responses", &part.responses},
          std::pair{"securitySchemes", &part.security_schemes}})
        for (const auto& [name, text] : *added)
            EXPECT_FALSE(member(routes, {"components", kind}).find(name)) << kind << " " << name;
    std::set<std::string> names;
    for (const auto& [pattern, methods] : paths())
        for (const auto& [method, operation] : *methods.get_if<json_object>())
            EXPECT_TRUE(names.insert(*member(operation, {"operationId"}).get_if<std::string>()).second)
                << pattern << " " << method;
}

TEST_F(prediction_document, describes_what_is_answered) {
    const schemas::tensor numbers{"y", tensor_type::float32, {1}, std::string(4, '\0'), {}};
    v2_request request;
    request.id = "7";
    request.outputs = {0};
    for (const bool is_binary : {true, false}) {
        request.is_binary = {is_binary};
        const auto answer = v2_of_outputs("m", "1", request, {numbers});
        ASSERT_TRUE(answer);
        expect_fits(
            "inference_response",
            std::string_view(answer->body).substr(0, answer->header_bytes.value_or(answer->body.size())));
    }
    expect_fits("inference_model", v2_metadata("m", "1", signature, "p"));
    expect_fits("inference_server", v2_server_metadata("1"));
    expect_fits("prediction_table", *split_of_outputs({numbers}, nullptr));
}

TEST_F(prediction_document, describes_what_is_asked) {
    const std::string head =
        R"({"id":"7","parameters":{"binary_data_output":true},"inputs":[{"name":"x","datatype":"INT32","shape":[2],"data":[1,2]},{"name":"t","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":4}}],"outputs":[{"name":"y","parameters":{"binary_data":false}}]})";
    EXPECT_TRUE(request_of_v2(head + std::string(4, '\0'), head.size(), signature));
    expect_fits("inference_request", head);
    const std::string table = R"({"index":[0],"columns":["x","t"],"data":[[1,"a"]]})";
    EXPECT_TRUE(inputs_of_split(table, signature));
    expect_fits("prediction_table_input", table);
    expect_fits("prediction_table_input", R"({"index":null,"columns":["x","t"],"data":[]})");
}

}  // namespace
}  // namespace herald::test
