#include "runtime/crypto.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <new>

#include "runtime/assert.hpp"
#include "runtime/text.hpp"

namespace herald::runtime {
namespace {

// Fetched once for the process: SHA256() would look the algorithm up at every call and cost three times as
// much.
const EVP_MD* sha256_algorithm() noexcept {
    static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    return algorithm;
}

const unsigned char* data(std::string_view bytes) noexcept {
    return reinterpret_cast<const unsigned char*>(bytes.data());
}

unsigned char* data(std::string& bytes) noexcept { return reinterpret_cast<unsigned char*>(bytes.data()); }

int size(std::string_view bytes) noexcept { return static_cast<int>(bytes.size()); }

struct cipher_deleter {
    void operator()(EVP_CIPHER_CTX* context) const noexcept { EVP_CIPHER_CTX_free(context); }
};
using cipher_context = std::unique_ptr<EVP_CIPHER_CTX, cipher_deleter>;

constexpr std::size_t tag_bytes = 16;

/// What makes a context fails only without memory. In a function that throws nothing this ends the process
/// with that text.
void need_memory(bool is_made) {
    if (!is_made) throw std::bad_alloc();
}

}  // namespace

struct sha256_stream::context {
    EVP_MD_CTX* md = EVP_MD_CTX_new();
    ~context() { EVP_MD_CTX_free(md); }
};

sha256_stream::sha256_stream() : x_context(std::make_unique<context>()) {
    need_memory(x_context->md != nullptr &&
                EVP_DigestInit_ex(x_context->md, sha256_algorithm(), nullptr) == 1);
}
sha256_stream::~sha256_stream() = default;

void sha256_stream::add(std::string_view bytes) noexcept {
    HERALD_ASSERT(EVP_DigestUpdate(x_context->md, bytes.data(), bytes.size()) == 1);
}

sha256_digest sha256_stream::finish() noexcept {
    sha256_digest digest{};
    HERALD_ASSERT(EVP_DigestFinal_ex(x_context->md, digest.data(), nullptr) == 1);
    HERALD_ASSERT(EVP_DigestInit_ex(x_context->md, sha256_algorithm(), nullptr) == 1);
    return digest;
}

sha256_digest sha256(std::string_view bytes) noexcept {
    thread_local sha256_stream stream;
    stream.add(bytes);
    return stream.finish();
}

sha256_digest hmac_sha256(std::string_view key, std::string_view bytes) noexcept {
    sha256_digest digest{};
    unsigned int length = 0;
    need_memory(HMAC(sha256_algorithm(), key.data(), size(key), data(bytes), bytes.size(), digest.data(),
                     &length) != nullptr);
    return digest;
}

std::string to_hex(std::string_view bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string out;
    out.reserve(bytes.size() * 2);
    for (const char c : bytes) {
        const auto value = static_cast<unsigned char>(c);
        out += digits[value >> 4];
        out += digits[value & 15];
    }
    return out;
}

result<std::string> from_hex(std::string_view text) {
    if (text.size() % 2 != 0) return invalid_argument("hexadecimal text has an odd number of digits");
    std::string out;
    out.reserve(text.size() / 2);
    for (std::size_t i = 0; i < text.size(); i += 2) {
        const int high = hex_digit(text[i]);
        const int low = hex_digit(text[i + 1]);
        if (high < 0 || low < 0) return invalid_argument("not hexadecimal text");
        out += static_cast<char>(high * 16 + low);
    }
    return out;
}

std::string to_base64(std::string_view bytes) {
    std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');  // EVP_EncodeBlock appends a NUL
    const int length = EVP_EncodeBlock(data(out), data(bytes), size(bytes));
    out.resize(static_cast<std::size_t>(length));
    return out;
}

result<std::string> from_base64(std::string_view text) {
    if (text.size() % 4 != 0) return invalid_argument("base64 text must be a multiple of 4 characters long");
    std::size_t padding = 0;
    while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
    for (const char c : text.substr(0, text.size() - padding)) {
        const bool valid = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                           c == '+' || c == '/';
        if (!valid) return invalid_argument("not base64 text (A-Z a-z 0-9 + / with = at the end)");
    }
    std::string out(text.size() / 4 * 3 + 1, '\0');
    const int length = EVP_DecodeBlock(data(out), data(text), size(text));
    if (length < 0) return invalid_argument("not base64 text");
    out.resize(static_cast<std::size_t>(length) - padding);
    return out;
}

bool constant_time_equal(std::string_view left, std::string_view right) noexcept {
    return left.size() == right.size() && CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

std::string seal(std::string_view key, std::string_view nonce, std::string_view bound_to,
                 std::string_view plain) {
    HERALD_ASSERT(key.size() == seal_key_bytes && nonce.size() == seal_nonce_bytes);
    const cipher_context context(EVP_CIPHER_CTX_new());
    std::string out(seal_nonce_bytes + plain.size() + tag_bytes, '\0');
    nonce.copy(out.data(), nonce.size());
    unsigned char* body = data(out) + seal_nonce_bytes;
    int written = 0;
    int last = 0;
    HERALD_ASSERT(EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, data(key), data(nonce)) == 1);
    HERALD_ASSERT(EVP_EncryptUpdate(context.get(), nullptr, &written, data(bound_to), size(bound_to)) == 1);
    HERALD_ASSERT(EVP_EncryptUpdate(context.get(), body, &written, data(plain), size(plain)) == 1);
    HERALD_ASSERT(EVP_EncryptFinal_ex(context.get(), body + written, &last) == 1);
    HERALD_ASSERT(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, static_cast<int>(tag_bytes),
                                      body + plain.size()) == 1);
    return out;
}

result<std::string> unseal(std::string_view key, std::string_view bound_to, std::string_view sealed) {
    if (key.size() != seal_key_bytes) return invalid_argument("an encryption key must be 32 bytes");
    if (sealed.size() < seal_nonce_bytes + tag_bytes) return invalid_argument("sealed secret is too short");
    const std::string_view body =
        sealed.substr(seal_nonce_bytes, sealed.size() - seal_nonce_bytes - tag_bytes);
    std::string tag(sealed.substr(sealed.size() - tag_bytes));
    const cipher_context context(EVP_CIPHER_CTX_new());
    std::string out(body.size(), '\0');
    int written = 0;
    int last = 0;
    const bool good =
        EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, data(key), data(sealed)) == 1 &&
        EVP_DecryptUpdate(context.get(), nullptr, &written, data(bound_to), size(bound_to)) == 1 &&
        EVP_DecryptUpdate(context.get(), data(out), &written, data(body), size(body)) == 1 &&
        EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, static_cast<int>(tag_bytes), tag.data()) ==
            1 &&
        EVP_DecryptFinal_ex(context.get(), data(out) + written, &last) == 1;
    if (!good)
        return invalid_argument("sealed secret does not open: another key, another row, or changed bytes");
    return out;
}

}  // namespace herald::runtime
