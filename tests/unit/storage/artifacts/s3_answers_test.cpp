// Protects what is read of S3's answers, from several servers, and of what is none of them.
#include "storage/artifacts/s3_answers.hpp"

#include <gtest/gtest.h>

namespace herald::test {
namespace {

using namespace storage::artifacts;

constexpr std::string_view declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

TEST(s3_answers, a_failure_has_a_code_and_a_message) {
    const auto failure = failure_in(std::string(declaration) +
                                    "<Error><Code>NoSuchBucket</Code><Message>a &lt;b&gt; &amp;lt; "
                                    "&quot;c&quot;</Message><BucketName>x</BucketName></Error>");
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code, "NoSuchBucket");
    EXPECT_EQ(failure->message, "a <b> &lt; \"c\"");
    EXPECT_EQ(failure_in("<Error><Code>&#34;&#x2B;&#xA;&apos;&nbsp;&amp;amp;&</Code></Error>")->code,
              "\"+\n'&nbsp;&amp;&");
    EXPECT_FALSE(failure_in(""));
    EXPECT_FALSE(failure_in("<html>502 Bad Gateway</html>"));
    EXPECT_FALSE(failure_in("<Errors>many</Errors>"));
    EXPECT_EQ(failure_in("<Error/>").value().code, "");
    EXPECT_FALSE(failure_in("<Error><Code>Cut")) << "not whole";
}

TEST(s3_answers, a_list_has_keys_with_their_times_and_says_whether_more_follow) {
    const auto keys = keys_in(
        std::string(declaration) +
        "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>models</Name><Prefix>p/"
        "</Prefix><IsTruncated>true</IsTruncated>"
        "<Contents><Key>p/a</Key><LastModified>2026-01-31T09:30:00.250Z</LastModified><ETag>&quot;x&quot;</"
        "ETag>"
        "<Size>3</Size></Contents>"
        "<Contents><ETag>y</ETag><Key>p/b&amp;c</Key><LastModified>1970-01-02T00:00:01Z</LastModified></"
        "Contents>"
        "</ListBucketResult>");
    ASSERT_TRUE(keys);
    EXPECT_TRUE(keys->is_truncated);
    ASSERT_EQ(keys->keys.size(), 2u);
    EXPECT_EQ(keys->keys[0].key, "p/a");
    EXPECT_EQ(keys->keys[0].modified_ms, 1'769'851'800'000);
    EXPECT_EQ(keys->keys[1].key, "p/b&c");
    EXPECT_EQ(keys->keys[1].modified_ms, 86'401'000);
    const auto none = keys_in("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>");
    ASSERT_TRUE(none);
    EXPECT_FALSE(none->is_truncated);
    EXPECT_TRUE(none->keys.empty());
    EXPECT_FALSE(keys_in("<html></html>"));
    EXPECT_FALSE(keys_in("<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>"));
}

TEST(s3_answers, unfinished_uploads_are_listed_with_their_ids) {
    const auto uploads = uploads_in(
        "<ListMultipartUploadsResult xmlns=\"x\"><UploadIdMarker></UploadIdMarker><Upload><Key>p/a</Key>"
        "<UploadId>id+/=</UploadId><Initiated>2026-01-31T09:30:00.000Z</Initiated></Upload>"
        "</ListMultipartUploadsResult>");
    ASSERT_TRUE(uploads);
    ASSERT_EQ(uploads->size(), 1u);
    EXPECT_EQ(uploads->front().key, "p/a");
    EXPECT_EQ(uploads->front().id, "id+/=");
    EXPECT_EQ(uploads->front().begun_ms, 1'769'851'800'000);
    EXPECT_FALSE(uploads_in("<ListBucketResult></ListBucketResult>"));
}

TEST(s3_answers, times_that_are_none_are_not_guessed) {
    for (const char* text :
         {"", "Z", "2026-01-31", "2026-01-31T09:30:00", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z",
          "2026-01-31T24:00:00Z", "2026-01-31 09:30:00Z", "abcd-01-31T09:30:00Z"})
        EXPECT_FALSE(xml_time_ms(text)) << text;
}

TEST(s3_answers, parts_are_put_together_in_their_order) {
    EXPECT_EQ(completion_of({"\"a\"", "b&<"}),
              "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
              "<Part><PartNumber>1</PartNumber><ETag>&quot;a&quot;</ETag></Part>"
              "<Part><PartNumber>2</PartNumber><ETag>b&amp;&lt;</ETag></Part></CompleteMultipartUpload>");
}

}  // namespace
}  // namespace herald::test
