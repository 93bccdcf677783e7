// Protects signatures of requests to S3: they are those of the examples that AWS has published.
#include "storage/artifacts/s3_signing.hpp"

#include <gtest/gtest.h>

#include "runtime/crypto.hpp"

namespace herald::test {
namespace {

using namespace storage::artifacts;

const s3_credentials suite_credentials{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", {}};
const signature_scope suite_scope{"us-east-1", "service"};
constexpr std::int64_t suite_time_ms = 1'440'938'160'000;  // 2015-08-30T12:36:00Z
const std::string suite_start =
    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=";
const std::string unreserved = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

std::string sha256_hex(std::string_view text) {
    return runtime::to_hex(runtime::as_bytes(runtime::sha256(text)));
}

/// A request of the Signature Version 4 test suite.
struct suite_case {
    const char* name;
    std::string method;
    std::string path;
    std::vector<std::pair<std::string, std::string>> query;
    std::vector<runtime::http::header> headers;  // beside host and x-amz-date
    std::string body;
    std::string signed_headers;
    std::string signature;
};

signed_request request_of(const suite_case& of) {
    signed_request request{of.method, of.path, of.query, of.headers, sha256_hex(of.body), suite_time_ms};
    request.headers.push_back({"Host", "example.amazonaws.com"});
    request.headers.push_back({"X-Amz-Date", "20150830T123600Z"});
    return request;
}

const std::string plain = "host;x-amz-date";
const std::string with_one = "host;my-header1;x-amz-date";

const suite_case suite[] = {
    {"get-vanilla",
     "GET",
     "/",
     {},
     {},
     "",
     plain,
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-vanilla-query-order-key-case",
     "GET",
     "/",
     {{"Param2", "value2"}, {"Param1", "value1"}},
     {},
     "",
     plain,
     "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
    {"get-vanilla-query-unreserved",
     "GET",
     "/",
     {{unreserved, unreserved}},
     {},
     "",
     plain,
     "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"},
    {"get-vanilla-utf8-query",
     "GET",
     "/",
     {{"\u1234", "bar"}},
     {},
     "",
     plain,
     "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
    {"get-unreserved",
     "GET",
     "/" + path_of(unreserved),
     {},
     {},
     "",
     plain,
     "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
    {"get-utf8",
     "GET",
     path_of("/\u1234"),
     {},
     {},
     "",
     plain,
     "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
    {"get-header-key-duplicate",
     "GET",
     "/",
     {},
     {{"My-Header1", "value2"}, {"My-Header1", "value2"}, {"My-Header1", "value1"}},
     "",
     with_one,
     "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
    {"get-header-value-order",
     "GET",
     "/",
     {},
     {{"My-Header1", "value4"}, {"My-Header1", "value1"}, {"My-Header1", "value3"}, {"My-Header1", "value2"}},
     "",
     with_one,
     "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"},
    {"get-header-value-trim",
     "GET",
     "/",
     {},
     {{"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}},
     "",
     "host;my-header1;my-header2;x-amz-date",
     "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
    {"post-vanilla",
     "POST",
     "/",
     {},
     {},
     "",
     plain,
     "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
    {"post-vanilla-query",
     "POST",
     "/",
     {{"Param1", "value1"}},
     {},
     "",
     plain,
     "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"},
    {"post-header-key-sort",
     "POST",
     "/",
     {},
     {{"My-Header1", "value1"}},
     "",
     with_one,
     "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"},
    {"post-header-value-case",
     "POST",
     "/",
     {},
     {{"My-Header1", "VALUE1"}},
     "",
     with_one,
     "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"},
    {"post-x-www-form-urlencoded",
     "POST",
     "/",
     {},
     {{"Content-Type", "application/x-www-form-urlencoded"}},
     "Param1=value1",
     "content-type;host;x-amz-date",
     "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
    {"post-sts-header-before",
     "POST",
     "/",
     {},
     {{"X-Amz-Security-Token",
       "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRq"
       "TflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75Y"
       "U9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9K"
       "SYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="}},
     "",
     "host;x-amz-date;x-amz-security-token",
     "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"},
};

TEST(s3_signing, signs_the_requests_of_the_published_suite_as_it_says) {
    for (const suite_case& each : suite)
        EXPECT_EQ(authorization(request_of(each), suite_scope, suite_credentials),
                  suite_start + each.signed_headers + ", Signature=" + each.signature)
            << each.name;
}

TEST(s3_signing, shows_the_steps_of_a_signature) {
    EXPECT_EQ(
        canonical_request(request_of(suite[1])),
        "GET\n/\nParam1=value1&Param2=value2\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\n"
        "host;x-amz-date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(text_to_sign(request_of(suite[0]), suite_scope),
              "AWS4-HMAC-SHA256\n20150830T123600Z\n20150830/us-east-1/service/aws4_request\n"
              "bb579772317eb040ac9ed261061d46c1f17a8133879d6129b6e1c25292927e63");
}

/// The examples of S3's own documentation, with the bucket in the name of the host.
TEST(s3_signing, signs_the_examples_of_s3_as_its_documentation_says) {
    const s3_credentials credentials{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", {}};
    constexpr std::int64_t time_ms = 1'369'353'600'000;
    EXPECT_EQ(signing_time(time_ms), "20130524T000000Z");
    const auto signature_of = [&](const std::string& method, const std::string& path,
                                  std::vector<std::pair<std::string, std::string>> query,
                                  std::vector<runtime::http::header> headers, const std::string& body) {
        headers.push_back({"host", "examplebucket.s3.amazonaws.com"});
        headers.push_back({"x-amz-content-sha256", sha256_hex(body)});
        headers.push_back({"x-amz-date", signing_time(time_ms)});
        const std::string whole =
            authorization({method, path, std::move(query), std::move(headers), sha256_hex(body), time_ms},
                          {"us-east-1"}, credentials);
        return whole.substr(whole.rfind('=') + 1);
    };
    EXPECT_EQ(signature_of("GET", "/test.txt", {}, {{"range", "bytes=0-9"}}, ""),
              "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
    EXPECT_EQ(signature_of(
                  "PUT", "/" + path_of("test$file.text"), {},
                  {{"date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
                  "Welcome to Amazon S3."),
              "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
    EXPECT_EQ(signature_of("GET", "/", {{"lifecycle", ""}}, {}, ""),
              "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    EXPECT_EQ(signature_of("GET", "/", {{"prefix", "J"}, {"max-keys", "2"}}, {}, ""),
              "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(s3_signing, encodes_slashes_in_parameters_but_not_between_the_names_of_a_key) {
    EXPECT_EQ(path_of("a/b c+\xff"), "a/b%20c%2B%FF");
    EXPECT_EQ(query_text({{"uploads", ""}, {"prefix", "a/b"}}), "prefix=a%2Fb&uploads=");
}

}  // namespace
}  // namespace herald::test
