// Protects what is inflated: exactly what was compressed comes out, nothing that is cut off or neither gzip
// nor zlib does, and never more than was allowed.
#include "runtime/inflated.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

namespace herald::test {
namespace {

using runtime::inflated;

constexpr int gzip_form = 15 + 16, zlib_form = 15, raw_form = -15;

std::string deflated(const std::string& text, int form = gzip_form) {
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, form, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string out(deflateBound(&stream, text.size()) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

/// Bytes that do not shrink.
std::string noise(std::size_t bytes) {
    std::string out(bytes, '\0');
    std::uint32_t state = 1;
    for (char& each : out) {
        state = state * 1664525 + 1013904223;
        each = static_cast<char>(state >> 24);
    }
    return out;
}

void expect_refused(const std::string& bytes, std::size_t bytes_max, std::uint16_t status) {
    const auto got = inflated(bytes, bytes_max);
    ASSERT_FALSE(got) << bytes.size() << " bytes were taken";
    EXPECT_EQ(http_status(got.error()), status) << got.error().message;
}

TEST(inflated_body, gives_what_was_compressed) {
    for (const std::size_t bytes : {0u, 1u, 16u * 1024 - 1, 16u * 1024, 16u * 1024 + 1, 100'000u, 1u << 20})
        for (const std::string& text : {std::string(bytes, 'a'), noise(bytes)})
            for (const int form : {gzip_form, zlib_form}) {
                const auto got = inflated(deflated(text, form), 1 << 20);
                ASSERT_TRUE(got) << bytes << ": " << got.error().message;
                EXPECT_TRUE(*got == text) << bytes;
            }
}

TEST(inflated_body, of_several_members_gives_one_after_the_other) {
    const std::string large = noise(40'000);
    const auto got = inflated(deflated("one") + deflated("") + deflated(large) + deflated("two"), 1 << 20);
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_TRUE(*got == "one" + large + "two");
}

TEST(inflated_body, takes_as_many_bytes_as_are_allowed_and_not_one_more) {
    for (const std::size_t bytes : {0u, 1u, 1'000u, 16u * 1024, 50'000u})
        for (const std::string& text : {std::string(bytes, 'a'), noise(bytes)}) {
            EXPECT_TRUE(inflated(deflated(text), bytes)) << bytes;
            EXPECT_TRUE(inflated(deflated(text), bytes + 1)) << bytes;
            if (bytes > 0) expect_refused(deflated(text), bytes - 1, 413);
        }
    expect_refused(deflated("abc") + deflated("def"), 5, 413);
}

TEST(inflated_body, that_is_a_bomb_is_refused_without_being_held) {
    const std::string zeros = deflated(std::string(64 << 20, '\0'));
    ASSERT_LT(zeros.size(), 100'000u);
    const auto got = inflated(zeros, 1'000);
    ASSERT_FALSE(got);
    EXPECT_EQ(http_status(got.error()), 413);
    EXPECT_NE(got.error().message.find("1000"), std::string::npos) << got.error().message;
    std::string many;
    for (int i = 0; i < 1'000; ++i) many += deflated(std::string(1'000, 'a'));
    expect_refused(many, 999'999, 413);
    EXPECT_TRUE(inflated(many, 1'000'000));
}

TEST(inflated_body, that_is_cut_off_anywhere_is_refused) {
    const std::string whole = deflated("a text of some length, of some length");
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
        expect_refused(whole.substr(0, bytes), 1'000, 400);
    const std::string two = whole + whole;
    for (std::size_t bytes = whole.size() + 1; bytes < two.size(); ++bytes)
        expect_refused(two.substr(0, bytes), 1'000, 400);
}

TEST(inflated_body, that_was_changed_is_refused) {
    const std::string whole = deflated("a text");
    for (const std::size_t place : {std::size_t{0}, std::size_t{1}, std::size_t{2}, whole.size() - 8,
                                    whole.size() - 5, whole.size() - 4, whole.size() - 1}) {
        std::string changed = whole;
        changed[place] = static_cast<char>(changed[place] ^ 0x55);
        expect_refused(changed, 1'000, 400);
    }
}

TEST(inflated_body, is_not_what_other_forms_are) {
    for (const std::string& other :
         {deflated("a text", raw_form), std::string("a text"), std::string("{\"x\":1}"),
          deflated("a text") + "x", deflated("a text") + std::string(8, '\0')})
        expect_refused(other, 1'000, 400);
}

}  // namespace
}  // namespace herald::test
