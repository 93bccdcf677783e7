// Protects every secret and signature: hashes and encodings match the published vectors, and sealed data
// opens only with the same key, for the same row, unchanged.
#include "runtime/crypto.hpp"

#include "runtime/signing.hpp"

#include <gtest/gtest.h>

#include <string>

#include "runtime/random.hpp"

namespace herald::test {
namespace {

using namespace runtime;

std::string hex(const sha256_digest& digest) { return to_hex(as_bytes(digest)); }

TEST(sha256, gives_the_vectors_of_fips_180) {
    EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(sha256, in_pieces_is_that_of_the_whole_and_can_start_again) {
    sha256_stream stream;
    for (int round = 0; round < 2; ++round) {
        stream.add("a");
        stream.add("");
        stream.add("bc");
        EXPECT_EQ(stream.finish(), sha256("abc"));
    }
}

TEST(ed25519, gives_the_vectors_of_rfc_8032) {
    const std::string seed = *from_hex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
    const std::string key = signing_public_key(seed);
    EXPECT_EQ(to_hex(key), "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
    const std::string signature = sign(seed, "\x72");
    EXPECT_EQ(to_hex(signature),
              "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
              "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00");
    EXPECT_TRUE(is_signed_by(key, "\x72", signature));
    EXPECT_FALSE(is_signed_by(key, "\x73", signature));
    EXPECT_FALSE(is_signed_by("no key", "\x72", signature));
    EXPECT_FALSE(is_signed_by(key, "\x72", "no signature"));
}

TEST(hmac_sha256, gives_the_vectors_of_rfc_4231) {
    EXPECT_EQ(hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(
        hex(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(hex, goes_there_and_back_and_takes_nothing_else) {
    const std::string bytes("\0\x7f\x80\xff", 4);
    EXPECT_EQ(to_hex(bytes), "007f80ff");
    EXPECT_EQ(*from_hex("007f80ff"), bytes);
    EXPECT_EQ(*from_hex("007F80FF"), bytes);
    for (const char* wrong : {"0", "0g", "g0", "0x00", " 00", "00 "}) EXPECT_FALSE(from_hex(wrong)) << wrong;
}

TEST(base64, gives_the_vectors_of_rfc_4648) {
    const std::pair<std::string, std::string> vectors[] = {{"", ""},
                                                           {"f", "Zg=="},
                                                           {"fo", "Zm8="},
                                                           {"foo", "Zm9v"},
                                                           {"foob", "Zm9vYg=="},
                                                           {"fooba", "Zm9vYmE="},
                                                           {"foobar", "Zm9vYmFy"},
                                                           {"\xff\xef\xbe", "/+++"}};
    for (const auto& [plain, text] : vectors) {
        EXPECT_EQ(to_base64(plain), text);
        ASSERT_TRUE(from_base64(text)) << text;
        EXPECT_EQ(*from_base64(text), plain);
    }
}

TEST(base64, takes_nothing_else) {
    for (const char* wrong :
         {"Z", "Zg", "Zg=", "Zg===", "Z===", "====", "Zg==Zg==", "Zm9v!", "Zm9v\n", " Zm9v", "-_-_"})
        EXPECT_FALSE(from_base64(wrong)) << wrong;
}

TEST(constant_time_equal, is_equality) {
    EXPECT_TRUE(constant_time_equal("", ""));
    EXPECT_TRUE(constant_time_equal("secret", "secret"));
    EXPECT_FALSE(constant_time_equal("secret", "secreT"));
    EXPECT_FALSE(constant_time_equal("secret", "secre"));
    EXPECT_FALSE(constant_time_equal("", "s"));
}

class seal_test : public ::testing::Test {
  protected:
    const std::string key = std::string(seal_key_bytes, 'k');
    const std::string nonce = std::string(seal_nonce_bytes, 'n');
};

TEST_F(seal_test, opens_what_it_sealed) {
    for (const std::string& plain : {std::string(), std::string("a secret"), std::string(100'000, 'x')}) {
        const std::string sealed = seal(key, nonce, "row 7", plain);
        EXPECT_EQ(sealed.size(), seal_nonce_bytes + plain.size() + 16);
        EXPECT_EQ(*unseal(key, "row 7", sealed), plain);
    }
}

TEST_F(seal_test, gives_the_vector_of_the_gcm_specification) {
    // Test case 15 of McGrew and Viega without additional data.
    const std::string gcm_key = *from_hex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308");
    const std::string gcm_nonce = *from_hex("cafebabefacedbaddecaf888");
    const std::string plain = *from_hex(
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16a"
        "edf5aa0de6"
        "57ba637b391aafd255");
    EXPECT_EQ(to_hex(seal(gcm_key, gcm_nonce, "", plain)),
              "cafebabefacedbaddecaf888"
              "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b10568288"
              "38c5f61e63"
              "93ba7a0abcc9f662898015ad"
              "b094dac5d93471bdec1a502270e3cc6c");
}

TEST_F(seal_test, opens_for_no_other_key_row_or_byte) {
    const std::string sealed = seal(key, nonce, "row 7", "a secret");
    EXPECT_FALSE(unseal(std::string(seal_key_bytes, 'l'), "row 7", sealed));
    EXPECT_FALSE(unseal(key, "row 8", sealed));
    for (std::size_t i = 0; i < sealed.size(); ++i) {
        std::string changed = sealed;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        EXPECT_FALSE(unseal(key, "row 7", changed)) << i;
        EXPECT_FALSE(unseal(key, "row 7", sealed.substr(0, i))) << i;
    }
    EXPECT_EQ(unseal(key, "row 8", sealed).error().code, error_code::invalid_argument);
}

}  // namespace
}  // namespace herald::test
