// A certificate made for the test and a TLS client, for the server's tests.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/process/runtime/http/server/client.hpp"

namespace herald::test {

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

inline runtime::http::server::server_options with_tls(const certificate_files& files) {
    runtime::http::server::server_options options;
    options.tls_certificate_file = files.certificate();
    options.tls_key_file = files.key();
    return options;
}

class tls_client {
  public:
    tls_client(std::uint16_t port, const certificate_files& files, int version_max = TLS1_3_VERSION)
        : x_context(boost::asio::ssl::context::tls_client), x_stream(x_io, x_context) {
        SSL_set_max_proto_version(x_stream.native_handle(), version_max);
        x_context.load_verify_file(files.certificate());
        x_stream.next_layer().connect({boost::asio::ip::address_v4::loopback(), port});
    }
    bool shakes_hands() {
        boost::system::error_code failed;
        x_stream.handshake(boost::asio::ssl::stream_base::client, failed);
        return !failed;
    }
    // Sends the bytes and reads to the end; `clean` is true when the server announced the end.
    std::string exchange(std::string_view bytes, bool& clean) {
        send(bytes);
        return receive_all(clean);
    }
    void send(std::string_view bytes) { boost::asio::write(x_stream, boost::asio::buffer(bytes)); }
    std::string receive_all(bool& clean) {
        std::string out;
        boost::system::error_code ended;
        boost::asio::read(x_stream, boost::asio::dynamic_buffer(out), ended);
        clean = ended == boost::asio::error::eof;
        return out;
    }

  private:
    boost::asio::io_context x_io;
    boost::asio::ssl::context x_context;
    boost::asio::ssl::stream<boost::asio::ip::tcp::socket> x_stream;
};

}  // namespace herald::test
