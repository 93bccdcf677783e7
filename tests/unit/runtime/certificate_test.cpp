// Protects the alarm before a TLS certificate expires.
#include "runtime/certificate.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstdio>
#include <ctime>
#include <memory>

#include "tests/support/folder.hpp"

namespace herald::test {
namespace {

using namespace runtime;

TEST(certificate, tells_when_it_expires) {
    const temporary_folder folder;
    const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"),
                                                             EVP_PKEY_free);
    const std::unique_ptr<X509, void (*)(X509*)> certificate(X509_new(), X509_free);
    const std::int64_t end_s = std::time(nullptr) + 14 * 24 * 3'600;
    X509_set_pubkey(certificate.get(), key.get());
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
    ASN1_TIME_set(X509_getm_notAfter(certificate.get()), end_s);
    X509_sign(certificate.get(), key.get(), nullptr);
    const auto file = folder / "certificate";
    {
        const std::unique_ptr<FILE, int (*)(FILE*)> out(std::fopen(file.c_str(), "w"), std::fclose);
        ASSERT_EQ(PEM_write_X509(out.get(), certificate.get()), 1);
    }
    EXPECT_EQ(certificate_expiry_ms(file), end_s * 1'000);
    EXPECT_FALSE(certificate_expiry_ms(folder / "missing"));
    EXPECT_FALSE(certificate_expiry_ms(""));
}

}  // namespace
}  // namespace herald::test
