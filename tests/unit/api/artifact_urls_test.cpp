// Protects signed URLs: one that was altered, is too old, or is for another use allows nothing; and the Range
// field means what RFC 9110 says, or nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/registry/artifact_urls.hpp"
#include "api/registry/byte_ranges.hpp"

namespace herald::test {
namespace {

using namespace api::registry;
using testing::HasSubstr;

artifact_url some_url() {
    artifact_url url;
    url.version.value = 7;
    url.key = std::string(256, 'k');
    url.path_digest = std::string(16, 'p');
    url.is_put = true;
    url.part_number = 3;
    url.user.value = 5;
    url.expires_ms = 1'000'000;
    return url;
}

constexpr std::string_view log = "the log 1";
const runtime::key_ring keys = runtime::key_ring::of("k1", std::string(32, 'x'));

TEST(artifact_urls, say_what_they_were_made_for) {
    const signed_text text = text_of(some_url(), log, keys);
    EXPECT_LT(text.said.size() + text.signature.size(), 1'500u) << "a target may be 2 KiB long";
    const auto url = read_url(text, url_use::put, log, keys, 999'999);
    ASSERT_TRUE(url) << url.error().message;
    EXPECT_EQ(url->version.value, 7u);
    EXPECT_EQ(url->key, some_url().key);
    EXPECT_EQ(url->part_number, 3u);
    EXPECT_EQ(url->user.value, 5u);
}

TEST(artifact_urls, are_refused_from_their_time_on_and_for_the_other_use) {
    const signed_text text = text_of(some_url(), log, keys);
    const auto late = read_url(text, url_use::put, log, keys, 1'000'000);
    EXPECT_EQ(late.error().code, error_code::permission_denied);
    EXPECT_THAT(late.error().message, HasSubstr("expired"));
    EXPECT_THAT(read_url(text, url_use::get, log, keys, 0).error().message, HasSubstr("for PUT"));
}

TEST(artifact_urls, that_were_altered_anywhere_are_refused) {
    const signed_text text = text_of(some_url(), log, keys);
    const auto expect_refused = [](const signed_text& altered) {
        EXPECT_EQ(read_url(altered, url_use::put, log, keys, 0).error().code, error_code::permission_denied)
            << altered.said << " " << altered.signature;
    };
    for (const auto part : {&signed_text::said, &signed_text::signature}) {
        for (std::size_t i = 0; i < (text.*part).size(); ++i) {
            signed_text altered = text;
            (altered.*part)[i] = (text.*part)[i] == 'a' ? 'b' : 'a';
            expect_refused(altered);
        }
        for (const std::string& other : {std::string(), (text.*part).substr(1), text.*part + "0"}) {
            signed_text altered = text;
            altered.*part = other;
            expect_refused(altered);
        }
    }
    const auto others = runtime::key_ring::of("k1", std::string(32, 'y'));
    EXPECT_EQ(read_url(text, url_use::put, log, others, 0).error().code, error_code::permission_denied);
    const auto renamed = runtime::key_ring::of("k2", std::string(32, 'x'));
    EXPECT_EQ(read_url(text, url_use::put, log, renamed, 0).error().code, error_code::permission_denied);
}

TEST(artifact_urls, are_good_for_one_log_and_one_generation) {
    const signed_text text = text_of(some_url(), log, keys);
    EXPECT_TRUE(read_url(text, url_use::put, log, keys, 0));
    for (const std::string_view other : {"the log 2", "another log 1", ""})
        EXPECT_EQ(read_url(text, url_use::put, other, keys, 0).error().code, error_code::permission_denied)
            << other;
}

TEST(key_ring, signs_for_one_purpose) {
    EXPECT_EQ(keys.sign("k1", "a", "text").value(), keys.sign("k1", "a", "text").value());
    EXPECT_NE(keys.sign("k1", "a", "text").value(), keys.sign("k1", "b", "text").value());
    EXPECT_NE(keys.sign("k1", "a", "text").value(), keys.sign("k1", "a", "texts").value());
    EXPECT_EQ(keys.sign("k2", "a", "text").error().code, error_code::failed_precondition);
}

void expect_part(std::string_view field, std::uint64_t size, std::uint64_t offset, std::uint64_t bytes) {
    const wanted_range wanted = range_of(field, size);
    ASSERT_EQ(wanted.kind, range_kind::part) << field;
    EXPECT_EQ(wanted.bytes.offset, offset) << field;
    EXPECT_EQ(wanted.bytes.bytes, bytes) << field;
}

TEST(byte_ranges, are_understood_one_at_a_time) {
    expect_part("bytes=0-0", 10, 0, 1);
    expect_part("Bytes=2-", 10, 2, 8);
    expect_part("bytes=2-99", 10, 2, 8);
    expect_part("bytes=-3", 10, 7, 3);
    expect_part("bytes=-99", 10, 0, 10);
    expect_part("bytes=0-18446744073709551615", 10, 0, 10);
    expect_part("bytes=0-99999999999999999999", 10, 0, 10);
    expect_part("bytes=-99999999999999999999", 10, 0, 10);
}

TEST(byte_ranges, behind_the_end_cannot_be_satisfied) {
    for (const char* field : {"bytes=10-", "bytes=10-12", "bytes=-0", "bytes=18446744073709551616-"})
        EXPECT_EQ(range_of(field, 10).kind, range_kind::unsatisfiable) << field;
    for (const char* field : {"bytes=0-", "bytes=-1"})
        EXPECT_EQ(range_of(field, 0).kind, range_kind::unsatisfiable) << field;
}

TEST(byte_ranges, of_any_other_form_mean_the_whole) {
    EXPECT_EQ(range_of(std::nullopt, 10).kind, range_kind::whole);
    for (const char* field : {"", "bytes", "bytes=", "bytes=-", "bytes=5-3", "bytes=1-2,4-5", "lines=1-2",
                              "bytes=a-b", "bytes= 1-2", "bytes=1-b"})
        EXPECT_EQ(range_of(field, 10).kind, range_kind::whole) << field;
    EXPECT_EQ(range_of("bytes=1-" + std::string(200, '0'), 10).kind, range_kind::whole);
}

}  // namespace
}  // namespace herald::test
