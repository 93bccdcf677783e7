// Signatures whose values were computed elsewhere, with Python:
//   base64.b64encode(hmac.new(key, b"{id}.{timestamp}.{body}", hashlib.sha256).digest())
//   hmac.new(b"<the secret's text>", body, hashlib.sha256).hexdigest()
#pragma once

#include <string>

namespace herald::test {

inline const std::string whsec = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
inline const std::string whsec_signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
inline const std::string plain = "plain secret \xc3\xa4";
inline const std::string plain_signature = "v1,/+TH9fi2nR7RvwHOeYjR4LOfMQljYpNQ/Tj1XKeudGU=";
inline const std::string body = R"({"test": 2432232314})";

}  // namespace herald::test
