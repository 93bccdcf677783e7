// Protects the console's session: its cookie counts only for the console's own pages, ends with the sign-out,
// and says no more than it must.
#include "tests/unit/api/handlers.hpp"

namespace herald::test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

const std::string session_path = "/api/v1/console/session";
const std::string current_user = "/api/v1/uac-proxy/uac/getCurrentUser";
const std::string from_console = "herald-console: 1\r\n";

struct console_session : handlers {
    reply sign_in(const std::string& more = from_console) {
        return node.ask(&node.administrator, "POST", session_path, R"({"browser":"b1"})", more);
    }
    /// "name=value" of the cookie that the answer sets.
    static std::string cookie_of(const reply& answer) {
        const std::string whole = answer.header("set-cookie");
        return whole.substr(0, whole.find(';'));
    }
    int status_with(const std::string& headers) {
        return node.ask(nullptr, "GET", current_user, "", headers).status();
    }
};

TEST_F(console_session, is_a_cookie_that_scripts_and_other_sites_do_not_have) {
    const reply answer = sign_in();
    ASSERT_EQ(answer.status(), 200) << answer.body();
    EXPECT_THAT(
        answer.header("set-cookie"),
        MatchesRegex("herald-[0-9a-f]{8}=1\\.[^;]+; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict"));
    EXPECT_EQ(answer.at("info.email"), node.administrator.email);
    EXPECT_THAT(answer.body(), ::testing::Not(HasSubstr("key")));
}

TEST_F(console_session, over_https_has_a_name_that_no_other_host_can_set) {
    node.is_found_at({"https://models.example.org", "http"});
    EXPECT_THAT(sign_in().header("set-cookie"), MatchesRegex("__Host-herald=.*; Secure"));
    node.is_found_at({"", "http"});
    EXPECT_THAT(sign_in(from_console + "Origin: https://herald\r\n").header("set-cookie"),
                MatchesRegex("__Host-herald=.*; Secure"));
}

TEST_F(console_session, counts_only_for_pages_of_this_node) {
    const std::string cookie = "Cookie: a=b; " + cookie_of(sign_in()) + "\r\n";
    EXPECT_EQ(status_with(cookie + from_console), 200);
    EXPECT_EQ(status_with(cookie + from_console + "Origin: http://herald\r\n"), 200);
    EXPECT_EQ(status_with(cookie), 401) << "a form of another page cannot send the header";
    EXPECT_EQ(status_with(cookie + "herald-console: 2\r\n"), 401);
    for (const std::string origin :
         {"http://herald:81", "http://other.herald", "https://example.org", "null", ""})
        EXPECT_EQ(status_with(cookie + from_console + "Origin: " + origin + "\r\n"), 401) << origin;
    EXPECT_EQ(status_with(cookie + from_console + "Origin: http://herald\r\nOrigin: http://herald\r\n"), 401);
    node.is_found_at({"https://models.example.org", "http"});
    EXPECT_EQ(status_with(cookie + from_console), 401) << "over HTTPS a plain cookie may be another's";
}

TEST_F(console_session, gives_way_to_credentials_in_headers) {
    const std::string cookie = "Cookie: " + cookie_of(sign_in()) + "\r\n" + from_console;
    const caller stranger{"nobody@example.org", "wrong"};
    EXPECT_EQ(node.ask(&stranger, "GET", current_user, "", cookie).status(), 401);
}

TEST_F(console_session, ends_with_the_sign_out_and_another_sign_in_of_the_browser) {
    const std::string first = "Cookie: " + cookie_of(sign_in()) + "\r\n" + from_console;
    const std::string second = "Cookie: " + cookie_of(sign_in()) + "\r\n" + from_console;
    EXPECT_EQ(status_with(first), 401);
    EXPECT_EQ(status_with(second), 200);
    const reply out = node.ask(nullptr, "DELETE", session_path, "", second);
    EXPECT_EQ(out.status(), 200) << out.body();
    EXPECT_THAT(out.header("set-cookie"), HasSubstr("Max-Age=0"));
    EXPECT_EQ(status_with(second), 401);
    const reply nobody = node.ask(nullptr, "GET", session_path, "", second);
    EXPECT_EQ(nobody.status(), 200);
    EXPECT_EQ(nobody.body(), "{}");
}

TEST_F(console_session, ends_with_the_key_that_it_was_made_with) {
    const reply added = node.post("/api/v1/uac-proxy/uac/addDevKey", "{}");
    const caller second{node.administrator.email, added.at("secondary_dev_key")};
    ASSERT_FALSE(second.key.empty()) << added.body();
    const std::string of_second =
        "Cookie: " + cookie_of(node.ask(&second, "POST", session_path, R"({"browser":"b2"})", from_console)) +
        "\r\n" + from_console;
    const std::string of_first = "Cookie: " + cookie_of(sign_in()) + "\r\n" + from_console;
    ASSERT_EQ(status_with(of_second), 200);
    ASSERT_EQ(node.ask(&node.administrator, "DELETE", "/api/v1/uac-proxy/uac/deleteSecondaryDevKey").status(),
              200);
    EXPECT_EQ(status_with(of_second), 401);
    EXPECT_EQ(status_with(of_first), 200);
}

TEST_F(console_session, takes_no_large_body_from_strangers) {
    const std::string large(limits::guest_body_bytes_max + 1, ' ');
    EXPECT_EQ(node.ask(nullptr, "POST", session_path + "/redeem", large, from_console).status(), 413);
}

TEST_F(console_session, begins_with_a_code_once_and_only_from_the_console) {
    const reply made = node.post(session_path + "/code", "{}");
    ASSERT_EQ(made.status(), 200) << made.body();
    const std::string body = R"({"code":")" + made.at("code") + R"(","browser":"b2"})";
    const auto redeem = [&](const std::string& more) {
        return node.ask(nullptr, "POST", session_path + "/redeem", body, more);
    };
    expect_refused(redeem(""), 400, error_code::invalid_argument, "herald-console: 1");
    expect_refused(redeem(from_console + "Origin: http://evil\r\n"), 400, error_code::invalid_argument,
                   "Origin");
    const reply in = redeem(from_console);
    ASSERT_EQ(in.status(), 200) << in.body();
    EXPECT_EQ(status_with("Cookie: " + cookie_of(in) + "\r\n" + from_console), 200);
    expect_refused(redeem(from_console), 404, error_code::not_found, "herald sign-in-link");
    const std::string cookie = "Cookie: " + cookie_of(in) + "\r\n" + from_console;
    expect_refused(node.ask(nullptr, "POST", session_path + "/code", "{}", cookie), 403,
                   error_code::permission_denied, "developer key");
}

TEST_F(console_session, has_a_page_at_the_start_or_words_that_there_is_none) {
    const reply start = node.ask(nullptr, "GET", "/");
    ASSERT_EQ(start.status(), 200);
    if (start.at("message").empty())
        EXPECT_THAT(start.header("content-security-policy"), HasSubstr("default-src 'none'"));
    else
        EXPECT_THAT(start.at("addresses"), HasSubstr("/api/openapi.json"));
}

TEST_F(console_session, permissions_say_what_may_be_done) {
    const std::string path = "/api/v1/uac-proxy/workspace/getMyPermissions?workspace_id=1";
    const reply all = node.get(path);
    ASSERT_EQ(all.status(), 200) << all.body();
    EXPECT_EQ(all.at("is_admin"), "true");
    EXPECT_EQ(all.at("system_admin"), "true");
    EXPECT_EQ(all.at("changes_webhooks"), "true");
    EXPECT_THAT(all.at("actions"), HasSubstr("APPROVE_REJECT"));
    const caller stranger = node.user("s@example.org");
    EXPECT_EQ(node.ask(&stranger, "GET", path).status(), 404);
}

}  // namespace
}  // namespace herald::test
