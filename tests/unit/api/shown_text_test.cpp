// Protects what people read: no request stores a name, a key, a path or another word with a character that
// does not show (wire.md §1).
#include "tests/unit/api/handlers.hpp"

namespace herald::test {
namespace {

using ::testing::HasSubstr;

/// `$` in the body stands for the word.
struct storing_request {
    std::string_view method;
    std::string path;
    std::string body;
};

class shown_text : public handlers {
  protected:
    std::string model = node.model("m");
    std::string version = node.version(model, "v");
    std::string endpoint =
        node.post(deployment + "/workspace/Default/endpoints", R"({"path":"/e"})").at("id");
    std::string stages = deployment + "/workspace/Default/endpoints/" + endpoint + "/stages";
    std::string of_version = registry_path + "/registered_models/" + model + "/model_versions/" + version;

    reply send(storing_request asked, const std::string& word) {
        for (std::size_t at; (at = asked.body.find('$')) != std::string::npos;)
            asked.body.replace(at, 1, word);
        return node.ask(&node.administrator, asked.method, asked.path, asked.body);
    }
    /// Each word that is stored and is no text of its own, as a description or a comment is.
    std::vector<storing_request> all() {
        const std::string org = "/api/v2/uac-proxy/organization",
                          call = registry_path + "/model_versions/" + version;
        EXPECT_EQ(node.post(stages, R"({"name":"production"})").status(), 200);
        std::vector<storing_request> out = {
            {"POST", std::string(models), R"({"name":"$"})"},
            {"POST", std::string(models), R"({"name":"a","labels":["$"]})"},
            {"POST", std::string(models), R"({"name":"a","attributes":[{"key":"$","value":1}]})"},
            {"POST", versions_of(model), R"({"version":"$"})"},
            {"POST", call + "/logCodeBlobInModelVersion", R"({"code_blob_map":{"$":{"git":{"repo":"r"}}}})"},
            {"POST", call + "/logDatasets", R"({"datasets":[{"key":"$","path":"p"}]})"},
            {"POST", call + "/logDatasets", R"({"datasets":[{"key":"d","path":"$"}]})"},
            {"POST", call + "/logDatasets", R"({"datasets":[{"key":"d","linked_artifact_id":"$"}]})"},
            {"POST", call + "/logAttributes", R"({"attributes":[{"key":"$","value":"\u200b"}]})"},
            {"PATCH", of_version, R"({"apis":["$"]})"},
            {"PATCH", of_version, R"({"model":{"key":"model","path":"$"}})"},
            {"PUT", of_version, R"({"code_blob_map":{"$":{}}})"},
            {"POST", proxy + "/uac/createUser", R"({"info":{"email":"n@example.org","full_name":"$"}})"},
            {"POST", proxy + "/uac/createUser",
             R"({"info":{"email":"n@example.org","verta_info":{"username":"$"}}})"},
            {"POST", proxy + "/uac/updateUser", R"({"info":{"full_name":"$"}})"},
            {"POST", proxy + "/session/createSession",
             R"({"verta_user_id":"1","session_name":"$","ttl_seconds":60})"},
            {"POST", org, R"({"organization":{"name":"$"}})"},
            {"POST", org + "/1/groups", R"({"group":{"name":"$"}})"},
            {"POST", org + "/1/roles", R"({"role":{"name":"$"}})"},
            {"POST", org + "/1/workspaces", R"({"workspace":{"name":"$"}})"},
            {"POST", org + "/1/workspaces", R"({"workspace":{"name":"w","namespace":"$"}})"},
            {"POST", proxy + "/service_account/createServiceAccount", R"({"username":"$"})"},
            {"POST", proxy + "/events/createWebhook",
             R"({"name":"$","location":"https://example.org","all_events":true})"},
            {"POST", deployment + "/workspace/Default/endpoints", R"({"path":"/$"})"},
            {"POST", stages, R"({"name":"$"})"},
            {"POST", stages + "/1/accesstokens", R"({"label":"$"})"},
            {"POST", deployment + "/workspace/Default/builds",
             R"({"model_version_id":)" + version + R"(,"external_location":"r/$"})"}};
        for (const char* field : {"path", "filename_extension", "serialization", "artifact_subtype", "key"})
            out.push_back(
                {"PATCH", of_version, R"({"artifacts":[{"key":"f",")" + std::string(field) + R"(":"$"}]})"});
        return out;
    }
};

TEST_F(shown_text, is_all_that_a_stored_word_holds) {
    for (const storing_request& each : all())
        for (const std::string word : {"a\\u200bb", "a\\u202eb", "a\\u0007b", "\\u2060", "a\\u00a0"})
            EXPECT_EQ(send(each, word).status(), 400) << each.path << " " << each.body << " " << word;
}

TEST_F(shown_text, may_be_of_any_letters_and_emoji) {
    for (const storing_request& each :
         {storing_request{"POST", registry_path + "/model_versions/" + version + "/logCodeBlobInModelVersion",
                          R"({"code_blob_map":{"$":{}}})"},
          storing_request{"POST", proxy + "/uac/updateUser", R"({"info":{"full_name":"$"}})"},
          storing_request{"PATCH", of_version, R"({"artifacts":[{"key":"f","path":"$"}]})"}})
        for (const std::string_view word :
             {"D\xC3\xA9tection", "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB", ""}) {
            if (word.empty() && each.path.ends_with("InModelVersion")) continue;
            EXPECT_EQ(send(each, std::string(word)).status(), 200) << each.path << " " << word;
        }
    const reply odd = send({"PATCH", of_version, R"({"artifacts":[{"key":"f","path":"$"}]})"}, "a\\u200bb");
    EXPECT_THAT(odd.at("message"),
                HasSubstr("the artifact \"f\": path holds the invisible character U+200B"));
}

}  // namespace
}  // namespace herald::test
