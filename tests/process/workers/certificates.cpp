// OpenSSL's calls for a key, a certificate and its signature.
#include "tests/process/workers/certificates.hpp"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <stdexcept>

namespace herald::test {

namespace {

void expect(bool success) {
    if (!success) throw std::runtime_error("OpenSSL could not make a certificate");
}

void add_extension(X509* certificate, int kind, const std::string& value) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
    expect(extension != nullptr);
    expect(X509_add_ext(certificate, extension, -1) == 1);
    X509_EXTENSION_free(extension);
}

void set_serial(X509* certificate) {
    long serial = 0;
    expect(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), 4) == 1);
    expect(ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial) == 1);
}

}  // namespace

void free_key::operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
void free_certificate::operator()(X509* certificate) const noexcept { X509_free(certificate); }

std::string identity::certificate_pem() const {
    BIO* const memory = BIO_new(BIO_s_mem());
    expect(PEM_write_bio_X509(memory, certificate.get()) == 1);
    char* text = nullptr;
    const long length = BIO_get_mem_data(memory, &text);
    std::string pem(text, static_cast<std::size_t>(length));
    BIO_free(memory);
    return pem;
}

std::string identity::key_pem() const {
    BIO* const memory = BIO_new(BIO_s_mem());
    expect(PEM_write_bio_PrivateKey(memory, key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
    char* text = nullptr;
    const long length = BIO_get_mem_data(memory, &text);
    std::string pem(text, static_cast<std::size_t>(length));
    BIO_free(memory);
    return pem;
}

identity make_identity(const certificate_wish& wish, const identity* issuer) {
    identity made{std::unique_ptr<EVP_PKEY, free_key>(EVP_EC_gen("P-256")),
                  std::unique_ptr<X509, free_certificate>(X509_new())};
    X509* const certificate = made.certificate.get();
    expect(made.key != nullptr && certificate != nullptr &&
           X509_set_version(certificate, X509_VERSION_3) == 1);
    set_serial(certificate);
    X509_gmtime_adj(X509_getm_notBefore(certificate), wish.valid_from_s);
    X509_gmtime_adj(X509_getm_notAfter(certificate), wish.valid_until_s);
    expect(X509_set_pubkey(certificate, made.key.get()) == 1);
    X509_NAME* const subject = X509_get_subject_name(certificate);
    const auto* const name = reinterpret_cast<const unsigned char*>(wish.common_name.c_str());
    expect(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, name, -1, -1, 0) == 1);
    const identity& signer = issuer != nullptr ? *issuer : made;
    expect(X509_set_issuer_name(certificate, X509_get_subject_name(signer.certificate.get())) == 1);
    if (wish.alternative_name.empty()) {
        add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE");
    } else {
        add_extension(certificate, NID_subject_alt_name, wish.alternative_name);
    }
    expect(X509_sign(certificate, signer.key.get(), EVP_sha256()) > 0);
    return made;
}

}  // namespace herald::test
