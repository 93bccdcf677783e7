// Protects the signatures: receivers check them with libraries that know nothing of Herald, so the expected
// values were computed elsewhere, with Python:
//   base64.b64encode(hmac.new(key, b"{id}.{timestamp}.{body}", hashlib.sha256).digest())
//   hmac.new(b"<the secret's text>", body, hashlib.sha256).hexdigest()
#include "workers/signing.hpp"

#include <gtest/gtest.h>

#include <string>

#include "runtime/crypto.hpp"

namespace herald::test {
namespace {

using namespace workers;

const std::string whsec = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const std::string whsec_signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
const std::string plain = "plain secret \xc3\xa4";
const std::string plain_signature = "v1,/+TH9fi2nR7RvwHOeYjR4LOfMQljYpNQ/Tj1XKeudGU=";
const std::string body = R"({"test": 2432232314})";

TEST(signing, known_answers_hold) {
    const std::string signed_text = "msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330." + body;
    EXPECT_EQ(standard_signature(whsec, signed_text), whsec_signature);
    EXPECT_EQ(standard_signature(plain, signed_text), plain_signature);
    EXPECT_EQ(github_signature(whsec, body),
              "sha256=80ec8a89ce3cd22133a1066caecb4d04fea7467657c8514d717ec42c38a5c94c")
        << "keyed with the text as configured, also for whsec_";
}

TEST(signing, only_a_well_formed_whsec_is_decoded) {
    const auto whsec_of = [](std::size_t bytes) {
        return "whsec_" + runtime::to_base64(std::string(bytes, 'k'));
    };
    EXPECT_EQ(signing_key(whsec_of(24)), std::string(24, 'k'));
    EXPECT_EQ(signing_key(whsec_of(64)), std::string(64, 'k'));
    const std::string unpadded = whsec_of(32).substr(0, 6 + 43);
    EXPECT_EQ(signing_key(unpadded), std::string(32, 'k'));
    EXPECT_EQ(signing_key(unpadded + "=="), std::string(32, 'k'));
    for (const std::string& raw :
         {whsec_of(23), whsec_of(65), std::string("whsec_"), std::string("whsec_===="),
          std::string("whsec_!!!!"), whsec_of(32).substr(0, 6 + 41), std::string("WHSEC_") + whsec.substr(6),
          std::string("secret")}) {
        EXPECT_EQ(signing_key(raw), raw);
    }
}

}  // namespace
}  // namespace herald::test
