// Protects what is said over TLS: the same service behind it, nothing older than TLS 1.2, and no plain text.
#include <gtest/gtest.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <string>

#include "tests/process/http/client.hpp"

namespace herald::test {
namespace {

using namespace runtime::http::server;

namespace ssl = boost::asio::ssl;
using boost::asio::ip::tcp;

// A folder with a certificate for "localhost" and its key.
class certificate_files {
  public:
    certificate_files() : x_folder(::testing::TempDir() + "herald_tls_" + std::to_string(::getpid())) {
        std::filesystem::create_directories(x_folder);
        const std::string command =
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "
            "/CN=localhost "
            "-keyout '" +
            key() + "' -out '" + certificate() + "' 2>/dev/null";
        if (std::system(command.c_str()) != 0) throw std::runtime_error("openssl made no certificate");
    }
    ~certificate_files() { std::filesystem::remove_all(x_folder); }
    std::string certificate() const { return x_folder + "/certificate.pem"; }
    std::string key() const { return x_folder + "/key.pem"; }

  private:
    std::string x_folder;
};

server_options with_tls(const certificate_files& files) {
    server_options options;
    options.tls_certificate_file = files.certificate();
    options.tls_key_file = files.key();
    return options;
}

class tls_client {
  public:
    tls_client(std::uint16_t port, const certificate_files& files, int version_max = TLS1_3_VERSION)
        : x_context(ssl::context::tls_client), x_stream(x_io, x_context) {
        SSL_set_max_proto_version(x_stream.native_handle(), version_max);
        x_context.load_verify_file(files.certificate());
        x_stream.next_layer().connect({boost::asio::ip::address_v4::loopback(), port});
    }
    bool shakes_hands() {
        boost::system::error_code failed;
        x_stream.handshake(ssl::stream_base::client, failed);
        return !failed;
    }
    // Sends the bytes and reads to the end; true in `clean` when the server said that it is the end.
    std::string exchange(std::string_view bytes, bool& clean) {
        boost::asio::write(x_stream, boost::asio::buffer(bytes));
        std::string out;
        boost::system::error_code ended;
        boost::asio::read(x_stream, boost::asio::dynamic_buffer(out), ended);
        clean = ended == boost::asio::error::eof;
        return out;
    }

  private:
    boost::asio::io_context x_io;
    ssl::context x_context;
    ssl::stream<tcp::socket> x_stream;
};

TEST(tls, serves_requests_and_says_where_they_end) {
    const certificate_files files;
    running_server server(with_tls(files));
    tls_client caller(server.get().port(), files);
    ASSERT_TRUE(caller.shakes_hands());
    bool clean = false;
    const std::string all =
        caller.exchange(get("/echo") + get("/large") + get("/now", "Connection: close\r\n"), clean);
    EXPECT_EQ(answers_in(all), 3u);
    EXPECT_GT(all.size(), echo::large_body);
    EXPECT_TRUE(all.ends_with("\r\n\r\nnow"));
    EXPECT_TRUE(clean);
}

TEST(tls, older_than_1_2_is_refused) {
    const certificate_files files;
    running_server server(with_tls(files));
    EXPECT_TRUE(tls_client(server.get().port(), files, TLS1_2_VERSION).shakes_hands());
    EXPECT_FALSE(tls_client(server.get().port(), files, TLS1_1_VERSION).shakes_hands());
}

TEST(tls, answers_no_plain_request) {
    const certificate_files files;
    running_server server(with_tls(files));
    const std::string all = server.exchange(get("/now"));
    EXPECT_EQ(all.find("HTTP/1.1 200"), std::string::npos);
    EXPECT_EQ(server.handler.handled, 0);
}

TEST(tls, handshake_has_a_deadline) {
    const certificate_files files;
    server_options options = with_tls(files);
    options.bounds.header_ms = 100;
    running_server server(options);
    client silent = server.connect();
    EXPECT_TRUE(silent.is_closed());
}

TEST(tls, files_that_cannot_be_used_are_named) {
    const certificate_files files;
    runtime::event_loops loops({.loops = 1});
    echo handler;
    server_options options = with_tls(files);
    options.tls_certificate_file = "/nowhere/certificate.pem";
    const auto made = make_server(options, handler, loops);
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message.find("/nowhere/certificate.pem"), std::string::npos);
}

TEST(tls, drains_connections_whose_handshake_comes_late) {
    const certificate_files files;
    running_server server(with_tls(files));
    tls_client caller(server.get().port(), files);
    tls_client other(server.get().port(), files);  // shows that the server has accepted the first
    ASSERT_TRUE(other.shakes_hands());
    auto drained = std::async(std::launch::async, [&] { return server.get().drain(10'000); });
    EXPECT_FALSE(drained.wait_for(std::chrono::milliseconds(50)) == std::future_status::ready);
    ASSERT_TRUE(caller.shakes_hands());
    EXPECT_TRUE(drained.get());
}

TEST(tls, drains_idle_connections) {
    const certificate_files files;
    running_server server(with_tls(files));
    tls_client caller(server.get().port(), files);
    ASSERT_TRUE(caller.shakes_hands());
    EXPECT_TRUE(server.get().drain(10'000));
}

}  // namespace
}  // namespace herald::test
