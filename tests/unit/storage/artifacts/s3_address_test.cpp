// Protects where a bucket is looked for, and that a location that names none is refused.
#include "storage/artifacts/s3_address.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/artifacts/limits.hpp"

namespace herald::test {
namespace {

using namespace storage::artifacts;
using testing::HasSubstr;

TEST(s3_address, a_location_names_a_bucket_and_a_prefix_that_ends_with_a_slash) {
    for (const auto& [text, bucket, prefix] : std::vector<std::array<std::string, 3>>{
             {"s3://models", "models", ""},
             {"s3://models/", "models", ""},
             {"s3://my.models-2/a", "my.models-2", "a/"},
             {"s3://models/a/B_1.x/", "models", "a/B_1.x/"},
             {"s3://models/" + std::string(limits::s3_prefix_bytes_max, 'p'), "models",
              std::string(limits::s3_prefix_bytes_max, 'p') + "/"}}) {
        const auto place = parse_s3_location(text);
        ASSERT_TRUE(place) << text << place.error().message;
        EXPECT_EQ(place->bucket, bucket);
        EXPECT_EQ(place->prefix, prefix);
    }
}

TEST(s3_address, what_names_no_bucket_is_refused_saying_what_would_be_right) {
    for (const std::string& text :
         {std::string("models"), std::string("s3://"), std::string("s3:///a"), std::string("s3://ab"),
          std::string("s3://Models"), std::string("s3://-models"), std::string("s3://models_1"),
          "s3://" + std::string(64, 'a'), std::string("s3://models//a"), std::string("s3://models/a/../b"),
          std::string("s3://models/./a"), std::string("s3://models/a b"), std::string("s3://models/\u00fc"),
          "s3://models/" + std::string(limits::s3_prefix_bytes_max + 1, 'p')}) {
        const auto place = parse_s3_location(text);
        ASSERT_FALSE(place) << text;
        EXPECT_EQ(place.error().code, error_code::invalid_argument);
        EXPECT_THAT(place.error().message, HasSubstr("s3://BUCKET/PREFIX")) << text;
    }
}

TEST(s3_address, at_amazon_the_bucket_is_in_the_name_of_the_host_unless_it_has_dots) {
    const auto plain = address_of({"models", ""}, "eu-central-1", "");
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->base, "https://models.s3.eu-central-1.amazonaws.com");
    EXPECT_EQ(plain->host, "models.s3.eu-central-1.amazonaws.com");
    EXPECT_EQ(plain->path, "/");
    const auto dotted = address_of({"my.models", ""}, "eu-central-1", "");
    ASSERT_TRUE(dotted);
    EXPECT_EQ(dotted->base, "https://s3.eu-central-1.amazonaws.com");
    EXPECT_EQ(dotted->path, "/my.models/");
}

TEST(s3_address, elsewhere_the_bucket_is_in_the_path_and_any_address_is_allowed) {
    const auto near = address_of({"models", "p/"}, "us-east-1", "http://127.0.0.1:9000/");
    ASSERT_TRUE(near) << near.error().message;
    EXPECT_EQ(near->base, "http://127.0.0.1:9000");
    EXPECT_EQ(near->host, "127.0.0.1:9000");
    EXPECT_EQ(near->path, "/models/");
    const auto named = address_of({"models", ""}, "us-east-1", "https://S3.example.com:443");
    ASSERT_TRUE(named);
    EXPECT_EQ(named->host, "s3.example.com");
    for (const char* endpoint : {"s3.example.com", "ftp://s3.example.com", "https://s3.example.com/path",
                                 "https://user@s3.example.com", "https://"})
        EXPECT_FALSE(address_of({"models", ""}, "us-east-1", endpoint)) << endpoint;
    for (const char* region : {"", "eu central", "EU", "a/b"})
        EXPECT_FALSE(address_of({"models", ""}, region, "")) << region;
}

}  // namespace
}  // namespace herald::test
