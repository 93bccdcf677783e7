#include "runtime/signing.hpp"

#include <openssl/evp.h>

#include <memory>

#include "runtime/assert.hpp"

namespace herald::runtime {
namespace {

const unsigned char* data(std::string_view bytes) noexcept {
    return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* data(std::string& bytes) noexcept { return reinterpret_cast<unsigned char*>(bytes.data()); }

struct curve_deleter {
    void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
    void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
};
using key_of_curve = std::unique_ptr<EVP_PKEY, curve_deleter>;
using digest_context = std::unique_ptr<EVP_MD_CTX, curve_deleter>;

key_of_curve private_key(std::string_view seed) {
    HERALD_ASSERT(seed.size() == signing_seed_bytes);
    key_of_curve key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, data(seed), seed.size()));
    HERALD_ASSERT(key != nullptr);
    return key;
}

}  // namespace

std::string signing_public_key(std::string_view seed) {
    const key_of_curve key = private_key(seed);
    std::string out(32, '\0');
    std::size_t bytes = out.size();
    HERALD_ASSERT(EVP_PKEY_get_raw_public_key(key.get(), data(out), &bytes) == 1 && bytes == out.size());
    return out;
}

std::string sign(std::string_view seed, std::string_view bytes) {
    const key_of_curve key = private_key(seed);
    const digest_context context(EVP_MD_CTX_new());
    std::string out(64, '\0');
    std::size_t length = out.size();
    HERALD_ASSERT(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1);
    HERALD_ASSERT(EVP_DigestSign(context.get(), data(out), &length, data(bytes), bytes.size()) == 1 &&
                  length == out.size());
    return out;
}

bool is_signed_by(std::string_view public_key, std::string_view bytes, std::string_view signature) {
    const key_of_curve key(
        EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, data(public_key), public_key.size()));
    if (!key) return false;
    const digest_context context(EVP_MD_CTX_new());
    return EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
           EVP_DigestVerify(context.get(), data(signature), signature.size(), data(bytes), bytes.size()) == 1;
}

}  // namespace herald::runtime
