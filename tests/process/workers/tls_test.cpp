// Protects what is sent from everybody but the receiver: TLS is always verified, and a handshake cannot delay
// a delivery.
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "runtime/http/client/tls.hpp"
#include "tests/process/workers/certificates.hpp"
#include "tests/process/workers/delivery_bench.hpp"
#include "tests/process/workers/dns_server.hpp"
#include "tests/process/workers/receiver.hpp"
#include "tests/support/folder.hpp"

namespace herald::test {
namespace {

using schemas::delivery_error;

const std::string hi_and_bye = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi";

class tls : public no_descriptor_leaks {
  protected:
    tls() { std::ofstream(ca_file()) << x_authority.certificate_pem(); }

    std::string ca_file() const { return (x_folder / "authority.pem").string(); }
    identity signed_for(const std::string& name) const {
        return make_identity({.alternative_name = name}, &x_authority);
    }

    /// Trusts the test's authority.
    workers::http_transport_options trusting() const {
        workers::http_transport_options options;
        options.extra_ca_file = ca_file();
        return options;
    }

    workers::delivery_answer deliver_to(const identity& who, const std::string& why_refused) const {
        std::atomic<int> requests{0};
        receiver target(
            [&](peer& one) {
                if (one.read_request().empty()) return;
                ++requests;
                one.send(hi);
            },
            {.tls = &who});
        delivery_bench bench(trusting());
        auto answer = bench.deliver(target.location());
        EXPECT_NE(answer.message.find(why_refused), std::string::npos) << answer.message;
        EXPECT_EQ(requests, why_refused.empty() ? 1 : 0) << "what was to be sent must not leave";
        return answer;
    }

    identity x_authority = make_identity({.common_name = "the test's authority"}, nullptr);
    temporary_folder x_folder;
};

TEST_F(tls, with_a_certificate_for_the_address_the_delivery_is_done) {
    const auto answer = deliver_to(signed_for("IP:127.0.0.1"), "");
    EXPECT_EQ(answer.error, delivery_error::none) << answer.message;
    EXPECT_EQ(answer.body, "hi");
    EXPECT_GT(answer.times.tls_us, 0u);
}

TEST_F(tls, certificates_that_are_not_good_are_refused_and_nothing_is_sent) {
    const identity other_authority = make_identity({.common_name = "somebody"}, nullptr);
    const identity expired = make_identity(
        {.alternative_name = "IP:127.0.0.1", .valid_from_s = -7200, .valid_until_s = -3600}, &x_authority);
    const identity not_yet = make_identity(
        {.alternative_name = "IP:127.0.0.1", .valid_from_s = 3600, .valid_until_s = 7200}, &x_authority);
    const identity self_signed = make_identity({.alternative_name = "IP:127.0.0.1"}, nullptr);
    const identity stranger = make_identity({.alternative_name = "IP:127.0.0.1"}, &other_authority);
    const identity wrong_address = signed_for("IP:127.0.0.9");
    const identity a_name = signed_for("DNS:localhost");
    const std::pair<const identity*, const char*> cases[]{
        {&expired, "expired"},        {&not_yet, "not yet valid"},  {&self_signed, "self-signed"},
        {&stranger, "unable to get"}, {&wrong_address, "mismatch"}, {&a_name, "mismatch"},
    };
    for (const auto& [who, why] : cases) EXPECT_EQ(deliver_to(*who, why).error, delivery_error::tls) << why;
}

TEST_F(tls, a_good_certificate_of_an_authority_nobody_named_is_refused) {
    const identity good = signed_for("IP:127.0.0.1");
    receiver target([](peer& one) { one.read_request(); }, {.tls = &good});
    delivery_bench bench;
    EXPECT_EQ(bench.deliver(target.location()).error, delivery_error::tls);
}

TEST_F(tls, the_name_of_the_url_is_what_the_certificate_must_hold) {
    const identity right = signed_for("DNS:hooks.herald.test");
    const identity wrong = signed_for("DNS:other.herald.test");
    const dns_server dns([](const std::string&, dns_family) -> dns_answer {
        return {dns_answer::kind::addresses, {"127.0.0.1"}};
    });
    auto options = trusting();
    options.dns.servers = dns.address();
    delivery_bench bench(options);
    for (const identity* who : {&right, &wrong}) {
        receiver target(
            [](peer& one) {
                EXPECT_EQ(one.server_name(), "hooks.herald.test");
                one.read_request();
                one.send(hi);
            },
            {.tls = who});
        const auto answer = bench.deliver("https://hooks.herald.test:" + std::to_string(target.port()) + "/");
        EXPECT_EQ(answer.error, who == &right ? delivery_error::none : delivery_error::tls) << answer.message;
    }
}

TEST_F(tls, a_receiver_that_stalls_or_breaks_the_handshake_is_a_failure) {
    const auto deliver_to_plain = [&](receiver::script script) {
        receiver target(std::move(script));
        delivery_bench bench(trusting());
        auto request = delivery_bench::request_to("https://127.0.0.1:" + std::to_string(target.port()) + "/");
        request.deadline_ms = 400;
        return bench.deliver(std::move(request));
    };
    const auto stalled = deliver_to_plain([](peer& one) { one.hang(); });
    EXPECT_EQ(stalled.error, delivery_error::timeout);
    EXPECT_NE(stalled.message.find("TLS"), std::string::npos) << stalled.message;
    // The head of a record that never follows.
    const auto half = deliver_to_plain([](peer& one) {
        one.send(std::string("\x16\x03\x03\x40\x00\x02", 6));
        one.hang();
    });
    EXPECT_EQ(half.error, delivery_error::timeout);
    for (const auto& script : std::vector<receiver::script>{
             [](peer& one) { one.send("HTTP/1.1 400 Bad Request\r\n\r\n"); },
             [](peer& one) { one.read_some(100); },
             [](peer& one) {
                 one.read_some(100);
                 one.reset();
             },
         }) {
        EXPECT_EQ(deliver_to_plain(script).error, delivery_error::tls);
    }
}

TEST_F(tls, versions_before_1_2_are_refused) {
    const identity good = signed_for("IP:127.0.0.1");
    receiver old([](peer& one) { one.read_request(); }, {.tls = &good, .newest_tls = 0x0302});
    delivery_bench bench(trusting());
    EXPECT_EQ(bench.deliver(old.location()).error, delivery_error::tls);
    // Debian's OpenSSL would refuse them anyway; this test does not depend on that.
    auto context = runtime::http::client::make_client_tls({});
    EXPECT_EQ(SSL_CTX_get_min_proto_version(context.native_handle()), TLS1_2_VERSION);
}

TEST_F(tls, the_next_connection_to_the_same_place_resumes_the_session) {
    const identity good = signed_for("IP:127.0.0.1");
    for (const int version : {0x0303, 0x0304}) {
        std::atomic<int> resumed{0};
        receiver target(
            [&](peer& one) {
                one.read_request();
                resumed += one.is_resumed() ? 1 : 0;
                one.send(hi_and_bye);
            },
            {.tls = &good, .newest_tls = version});
        delivery_bench bench(trusting());
        for (int i = 0; i < 3; ++i) {
            const auto answer = bench.deliver(target.location());
            EXPECT_EQ(answer.error, delivery_error::none) << answer.message;
            EXPECT_EQ(resumed, i) << "TLS " << std::hex << version;
        }
        auto of_other_webhook = delivery_bench::request_to(target.location());
        of_other_webhook.webhook_id = {2};
        EXPECT_EQ(bench.deliver(std::move(of_other_webhook)).error, delivery_error::none);
        EXPECT_EQ(resumed, 3) << "whichever webhook leads there";
    }
}

/// A server's context that takes only clients whose certificate the authority has signed.
std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> asking_for_certificate(const identity& server,
                                                                         const std::string& ca_file) {
    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> made(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
    EXPECT_EQ(SSL_CTX_use_certificate(made.get(), server.certificate.get()), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey(made.get(), server.key.get()), 1);
    EXPECT_EQ(SSL_CTX_load_verify_locations(made.get(), ca_file.c_str(), nullptr), 1);
    SSL_CTX_set_verify(made.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    SSL_CTX_set_session_cache_mode(made.get(), SSL_SESS_CACHE_OFF);
    return made;
}

TEST_F(tls, a_receiver_that_asks_for_a_certificate_gets_the_operators) {
    const identity server = signed_for("IP:127.0.0.1");
    const identity own = signed_for("DNS:herald.example");
    const std::string certificate = (x_folder / "own.pem").string(), key = (x_folder / "own.key").string();
    std::ofstream(certificate) << own.certificate_pem();
    std::ofstream(key) << own.key_pem();
    const auto context = asking_for_certificate(server, ca_file());
    receiver target([&](peer& one) {
        if (!one.secure(context.get()) || one.read_request().empty()) return;
        one.send(hi_and_bye);
    });
    const std::string location = "https" + target.location().substr(4);
    workers::http_transport_options options = trusting();
    delivery_bench without(options);
    EXPECT_NE(without.deliver(location).error, delivery_error::none);
    options.certificate_file = certificate;
    options.certificate_key_file = key;
    delivery_bench with(options);
    const auto answer = with.deliver(location);
    EXPECT_EQ(answer.error, delivery_error::none) << answer.message;
}

TEST_F(tls, a_certificate_without_its_own_key_is_refused_at_the_start) {
    using runtime::http::client::check_certificate;
    const identity one = signed_for("DNS:one.example"), two = signed_for("DNS:two.example");
    const std::string certificate = (x_folder / "one.pem").string(), key = (x_folder / "two.key").string();
    std::ofstream(certificate) << one.certificate_pem();
    std::ofstream(key) << two.key_pem();
    EXPECT_TRUE(check_certificate("", ""));
    EXPECT_FALSE(check_certificate(certificate, ""));
    EXPECT_FALSE(check_certificate(certificate, key));
    EXPECT_FALSE(check_certificate(key, key));
    std::ofstream(key) << one.key_pem();
    EXPECT_TRUE(check_certificate(certificate, key));
}

}  // namespace
}  // namespace herald::test
