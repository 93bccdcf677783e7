// OpenSSL's part of a delivery.
#include "runtime/http/client/tls.hpp"

#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

#include <new>

#include "runtime/assert.hpp"
#include "runtime/http/client/client.hpp"

namespace herald::runtime::http::client {

namespace ssl = boost::asio::ssl;

namespace {

/// Throws std::bad_alloc without memory, where Asio's own way to make one goes on with a null pointer.
ssl::context new_context() {
    SSL_CTX* const made = SSL_CTX_new(TLS_client_method());
    if (made == nullptr) throw std::bad_alloc();
    return ssl::context(made);  // owns it
}

}  // namespace

ssl::context make_client_tls(const client_options& options) {
    ssl::context context = new_context();
    context.set_default_verify_paths();
    if (!options.extra_ca_file.empty()) context.load_verify_file(options.extra_ca_file);
    if (!options.certificate_file.empty()) {
        context.use_certificate_chain_file(options.certificate_file);
        context.use_private_key_file(options.certificate_key_file, ssl::context::pem);
    }
    context.set_verify_mode(ssl::verify_peer);
    SSL_CTX* const native = context.native_handle();
    SSL_CTX_set_options(native, SSL_OP_NO_COMPRESSION);
    HERALD_ASSERT(SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION) == 1);
    SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);  // tls_sessions keeps them, by receiver
    return context;
}

result<void> check_extra_ca(const std::string& file) {
    ssl::context context = new_context();
    boost::system::error_code wrong;
    context.load_verify_file(file, wrong);
    if (wrong) return runtime::invalid_argument(wrong.message());
    return {};
}

result<void> check_certificate(const std::string& file, const std::string& key_file) {
    if (file.empty() != key_file.empty())
        return runtime::invalid_argument("a certificate and its key belong together: give both, or neither");
    if (file.empty()) return {};
    ssl::context context = new_context();
    boost::system::error_code wrong;
    context.use_certificate_chain_file(file, wrong);
    if (wrong) return runtime::invalid_argument({file, ": ", wrong.message()});
    context.use_private_key_file(key_file, ssl::context::pem, wrong);
    if (!wrong && SSL_CTX_check_private_key(context.native_handle()) != 1)
        return runtime::invalid_argument({key_file, " is not the key of the certificate in ", file});
    if (wrong) return runtime::invalid_argument({key_file, ": ", wrong.message()});
    return {};
}

void expect_receiver(SSL* ssl, const location& receiver) {
    X509_VERIFY_PARAM* const expected = SSL_get0_param(ssl);
    if (receiver.literal) {
        HERALD_ASSERT(X509_VERIFY_PARAM_set1_ip_asc(expected, receiver.host.c_str()) == 1);
        return;
    }
    X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    HERALD_ASSERT(X509_VERIFY_PARAM_set1_host(expected, receiver.host.data(), receiver.host.size()) == 1);
    // Like SSL_set_tlsext_host_name(), which is a macro with old-style casts.
    HERALD_ASSERT(SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                           const_cast<char*>(receiver.host.c_str())) == 1);
}

std::string why_handshake_failed(const SSL* ssl, std::string otherwise) {
    const long verified = SSL_get_verify_result(ssl);
    if (verified == X509_V_OK) return otherwise;
    return std::string("the certificate is not accepted: ") + X509_verify_cert_error_string(verified);
}

void free_session::operator()(SSL_SESSION* session) const noexcept { SSL_SESSION_free(session); }

void tls_sessions::keep(const std::string& receiver, SSL* ssl) {
    tls_session session(SSL_get1_session(ssl));
    if (!session || SSL_SESSION_is_resumable(session.get()) != 1) return;
    if (x_sessions.size() >= x_count_max && !x_sessions.contains(receiver))
        x_sessions.erase(x_sessions.begin());
    x_sessions[receiver] = std::move(session);
}

tls_session tls_sessions::take(const std::string& receiver) {
    auto node = x_sessions.extract(receiver);
    return node ? std::move(node.mapped()) : nullptr;
}

}  // namespace herald::runtime::http::client
