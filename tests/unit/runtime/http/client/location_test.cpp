// Protects P6 at its first gate: a location that can be read in two ways, or that leads where the operator
// does not want, is refused with a helpful text.
#include "runtime/http/client/location.hpp"

#include <gtest/gtest.h>

#include <string>

#include "runtime/limits.hpp"

namespace herald::test {
namespace {

using namespace runtime::http::client;

result<location> parse(const std::string& url, plain_http http = plain_http::refused,
                       const char* blocks = "") {
    return parse_location(url, http, *address_policy::parse(blocks));
}

std::string refusal(const std::string& url, plain_http http = plain_http::refused) {
    const auto parsed = parse(url, http);
    return parsed ? "taken, host " + parsed->host : parsed.error().message;
}

TEST(location, has_the_parts_of_the_url) {
    const auto full = parse("HTTPS://Hooks.Example.COM:8443/a/b?c=d&e=%20");
    ASSERT_TRUE(full);
    EXPECT_TRUE(full->tls);
    EXPECT_EQ(full->host, "hooks.example.com");
    EXPECT_FALSE(full->literal);
    EXPECT_EQ(full->port, 8443);
    EXPECT_EQ(full->target, "/a/b?c=d&e=%20");
    EXPECT_EQ(full->authority(), "hooks.example.com:8443");

    const auto shortest = parse("https://example.com");
    ASSERT_TRUE(shortest);
    EXPECT_EQ(shortest->port, 443);
    EXPECT_EQ(shortest->target, "/");
    EXPECT_EQ(shortest->authority(), "example.com");
    EXPECT_EQ(parse("https://example.com?a=b")->target, "/?a=b");
    EXPECT_EQ(parse("https://example.com./x")->host, "example.com");
    EXPECT_EQ(parse("https://xn--bcher-kva.example/")->host, "xn--bcher-kva.example");
    EXPECT_EQ(parse("https://my_service:1024/")->host, "my_service");
    EXPECT_EQ(parse("https://a.example/x@y:z")->target, "/x@y:z");
}

TEST(location, http_is_taken_only_where_the_operator_allows_it) {
    EXPECT_NE(refusal("http://example.com/").find("--allow-http"), std::string::npos);
    const auto plain = parse("http://example.com/", plain_http::allowed);
    ASSERT_TRUE(plain);
    EXPECT_FALSE(plain->tls);
    EXPECT_EQ(plain->port, 80);
    EXPECT_EQ(plain->authority(), "example.com");
    EXPECT_EQ(parse("http://example.com:443/", plain_http::allowed)->authority(), "example.com:443");
    for (const char* other : {"ftp://example.com/", "example.com", "//example.com/", "https:/example.com", "",
                              "javascript:alert(1)", "http", "https", "https:", "http:/",
                              " https://example.com/", "httpss://example.com/"}) {
        EXPECT_NE(refusal(other, plain_http::allowed).find("https://"), std::string::npos) << other;
    }
}

TEST(location, a_literal_address_is_judged_when_it_is_given) {
    EXPECT_EQ(parse("https://8.8.8.8/")->literal, ip_address::parse("8.8.8.8"));
    EXPECT_EQ(parse("https://8.8.8.8./")->host, "8.8.8.8");
    const auto v6 = parse("https://[2001:4860:4860:0::8888]:8443/");
    ASSERT_TRUE(v6);
    EXPECT_EQ(v6->host, "2001:4860:4860::8888");
    EXPECT_EQ(v6->authority(), "[2001:4860:4860::8888]:8443");
    for (const char* inner : {"https://127.0.0.1/", "https://10.0.0.1:8080/", "https://169.254.169.254/",
                              "https://[::1]/", "https://[::ffff:10.0.0.1]/", "https://[fe80::1]/"}) {
        EXPECT_NE(refusal(inner).find("--allow-addresses"), std::string::npos) << inner;
    }
    EXPECT_TRUE(parse("https://127.0.0.1/", plain_http::refused, "127.0.0.0/8"));
    EXPECT_TRUE(parse("https://localhost:8443/")) << "a name is resolved at the attempt, not before";
}

TEST(location, an_address_in_disguise_is_refused) {
    for (const char* host :
         {"2130706433", "0x7f000001", "0x7f.1", "127.1", "0177.0.0.1", "127.0.0.0x1", "0x", "1.2.3",
          "1.2.3.4.5", "256.1.1.1", "127.0.0.01", "a.0x7f", "a.1", "2130706433."}) {
        EXPECT_NE(refusal("https://" + std::string(host) + "/").find("would be read as an address"),
                  std::string::npos)
            << host;
    }
}

TEST(location, what_two_readers_could_read_differently_is_refused) {
    const std::pair<const char*, const char*> cases[]{
        {"https://user@example.com/", "user name"},
        {"https://user:pass@example.com/", "user name"},
        {"https://example.com\\@10.0.0.1/", "user name"},
        {"https://example.com/#part", "fragment"},
        {"https://example.com#", "fragment"},
        {"https://ex%61mple.com/", "percent-encoded"},
        {"https://example.com%2f.evil.example/", "percent-encoded"},
        {"https://[fe80::1%25eth0]/", "zone"},
        {"https://[::1/", "not closed"},
        {"https://[::1]x/", "only a port"},
        {"https://[v1.x]/", "no IPv6"},
        {"https://[]/", "no IPv6"},
        {"https://[8.8.8.8]/", "no IPv6"},
        {"https://b\xc3\xbc"
         "cher.example/",
         "IDNA"},
        {"https://\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1/", "IDNA"},
        {"https:///path", "no host"},
        {"https://:443/", "no host"},
        {"https://./", "empty part"},
        {"https://a..b/", "empty part"},
        {"https://.a/", "empty part"},
        {"https://a.b../", "empty part"},
        {"https://-a.b/", "begins or ends"},
        {"https://a-.b/", "begins or ends"},
        {"https://a b/", "letters, digits"},
        {"https://a,b/", "letters, digits"},
        {"https://a\\b/", "letters, digits"},
        {"https://a\tb/", "letters, digits"},
        {"https://a.b/c d", "percent-encode"},
        {"https://a.b/c\r\nx: y", "percent-encode"},
        {"https://a.b/\xc3\xa4", "percent-encode"},
        {"https://a.b/\x7f", "percent-encode"},
    };
    for (const auto& [url, why] : cases) {
        EXPECT_NE(refusal(url).find(why), std::string::npos) << url << " -> " << refusal(url);
    }
    EXPECT_FALSE(parse(std::string("https://a.b\0.c/", 15)));
}

TEST(location, ports_below_1024_other_than_80_and_443_are_refused) {
    for (const char* port : {"80", "443", "1024", "8080", "65535"}) {
        EXPECT_TRUE(parse("https://a.b:" + std::string(port) + "/")) << port;
    }
    for (const char* port : {"", "0", "1", "22", "25", "79", "81", "442", "444", "1023", "65536",
                             "99999999999", "-1", "80x", "0x50", "80:80", "+80"}) {
        EXPECT_NE(refusal("https://a.b:" + std::string(port) + "/").find("80, 443 and 1024 to 65535"),
                  std::string::npos)
            << port;
    }
}

TEST(location, lengths_have_bounds) {
    const std::string label(63, 'a');
    EXPECT_TRUE(parse("https://" + label + ".b/"));
    EXPECT_FALSE(parse("https://" + label + "a.b/"));
    const std::string longest = label + "." + label + "." + label + "." + std::string(61, 'a');
    EXPECT_EQ(longest.size(), 253u);
    EXPECT_TRUE(parse("https://" + longest + "/"));
    EXPECT_TRUE(parse("https://" + longest + "./"));
    EXPECT_FALSE(parse("https://" + longest + "a/"));
    const std::string start = "https://a.b/";
    EXPECT_TRUE(parse(start + std::string(limits::url_bytes_max - start.size(), 'x')));
    EXPECT_FALSE(parse(start + std::string(limits::url_bytes_max - start.size() + 1, 'x')));
}

}  // namespace
}  // namespace herald::test
