// Certificates made when a test needs them, so that none is stored in the repository and expires.
#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>

namespace herald::test {

struct free_key {
    void operator()(EVP_PKEY*) const noexcept;
};
struct free_certificate {
    void operator()(X509*) const noexcept;
};

/// A certificate and its key.
struct identity {
    std::unique_ptr<EVP_PKEY, free_key> key;
    std::unique_ptr<X509, free_certificate> certificate;

    std::string certificate_pem() const;
    std::string key_pem() const;
};

struct certificate_wish {
    std::string common_name = "receiver";
    std::string alternative_name =
        {};                     // "DNS:a.test" or "IP:127.0.0.1"; empty: an authority that may sign others
    long valid_from_s = -3600;  // relative to the present time
    long valid_until_s = 3600;
};

/// Signed by `issuer`, or self-signed when there is none.
identity make_identity(const certificate_wish&, const identity* issuer);

}  // namespace herald::test
