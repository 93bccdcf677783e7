#include "runtime/certificate.hpp"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <ctime>
#include <memory>

namespace herald::runtime {

std::optional<std::int64_t> certificate_expiry_ms(const std::filesystem::path& pem_file) {
    const std::unique_ptr<BIO, int (*)(BIO*)> file(BIO_new_file(pem_file.c_str(), "r"), BIO_free);
    if (!file) return std::nullopt;
    const std::unique_ptr<X509, void (*)(X509*)> certificate(
        PEM_read_bio_X509(file.get(), nullptr, nullptr, nullptr), X509_free);
    std::tm end{};
    if (!certificate || ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &end) != 1)
        return std::nullopt;
    return std::int64_t{::timegm(&end)} * 1'000;
}

}  // namespace herald::runtime
