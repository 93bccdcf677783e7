// Protects the signatures: receivers check them with libraries that know nothing of Herald.
#include "workers/signing.hpp"

#include <gtest/gtest.h>

#include <string>

#include "runtime/crypto.hpp"
#include "tests/unit/workers/known_signatures.hpp"

namespace herald::test {
namespace {

using namespace workers;

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
